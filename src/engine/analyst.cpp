// SPDX-License-Identifier: Apache-2.0
#include "engine/analyst.hpp"

#include <algorithm>
#include <iterator>

namespace parshall {

void WindowJoiner::tell(std::span<const std::byte> message) {
  const std::uint64_t window = read_as<WindowMessage>(message).window;
  if (!open_) advance();
  if (!open_) open_next(window);
  if (open_ == window) return take(message);
  RecordSpool& waiting = waiting_.try_emplace(window, SpoolLimits{.memory_bytes = kWaitingBytes}).first->second;
  const bool are_rows = take_rows(message, [&](const FlowWindow& flow) {
    const FlowMessage copy{{WindowMessage::Kind::flow, 0, window}, flow};
    const std::span head = bytes_of(copy);
    const std::size_t measured = flow.measured == nullptr ? 0 : tasks_.measures().bytes();
    copied_.assign(head.begin(), head.end());
    copied_.insert(copied_.end(), flow.measured, flow.measured + measured);
    waiting.append(copied_);
  });
  if (!are_rows) waiting.append(message);
}

void WindowJoiner::end(std::size_t worker, std::uint64_t window, const WindowEnd& end) {
  bounds_[worker] = end.next;
  first_ = std::min(first_, end.next);
  if (end.totals.packets != 0) totals_[window].add(end.totals);
  advance();
}

std::uint64_t WindowJoiner::least_bound() const noexcept { return *std::ranges::min_element(bounds_); }

void WindowJoiner::advance() {
  while ((open_ || open_next()) && *open_ < least_bound()) close(*open_);
  for (const StateOutcome& outcome : outcomes_) outcome.found->decide_below(open_.value_or(least_bound()));
}

/// Opens the earliest window that has messages, the one of `told` included, once no worker can report an earlier one.
bool WindowJoiner::open_next(std::uint64_t told) {
  std::uint64_t next = told;
  if (!waiting_.empty()) next = std::min(next, waiting_.begin()->first);
  if (!totals_.empty()) next = std::min(next, totals_.begin()->first);
  if (next == WindowEnd::kAll || least_bound() < next) return false;
  open_ = next;
  if (const auto waiting = waiting_.find(next); waiting != waiting_.end()) {
    waiting->second.visit([this](std::span<const std::byte> message) { take(message); });
    waiting_.erase(waiting);
  }
  return true;
}

void WindowJoiner::take(std::span<const std::byte> message) {
  switch (read_as<WindowMessage>(message).kind) {
    case WindowMessage::Kind::rows:
      return take(read_as<RowsMessage>(message));
    case WindowMessage::Kind::flow:
      return take_flow(message.subspan(sizeof(WindowMessage)));
    case WindowMessage::Kind::unread:
      return take_unread(read_as<UnreadMessage>(message));
    default:
      return take_bins(message);
  }
}

void WindowJoiner::take_unread(const UnreadMessage& message) {
  packets_ += message.flows.packets;
  tasks_.unread(message.state, message.flows);
}

void WindowJoiner::take_bins(std::span<const std::byte> message) {
  const BinsHead head = read_as<BinsMessage>(message).head;
  std::vector<LinkBin> bins(head.count);
  std::memcpy(bins.data(), message.data() + sizeof(BinsMessage), bins.size() * sizeof(LinkBin));
  tasks_.bins(head.first, bins);
}

/// Reads rows in place. Measures that are missing are zero, as for a flow of which nothing was seen.
void WindowJoiner::take(const RowsMessage& rows) {
  hand_over();
  rows.consume(
      [this](FlowWindow flow) {
        if (flow.measured == nullptr) flow.measured = nothing_measured_.data();
        packets_ += flow.packets;
        batch_.push_back(flow);
        if (batch_.size() == kBatch) hand_over();
      },
      [this] { hand_over(); });
}

/// Takes a flow that waited.
void WindowJoiner::take_flow(std::span<const std::byte> flow) {
  const auto measured = flow.subspan(sizeof(FlowWindow));
  const std::size_t bytes = measured_.size() / kBatch;
  std::byte* const kept = measured_.data() + batch_.size() * bytes;
  std::fill(std::ranges::copy(measured, kept).out, kept + bytes, std::byte{0});
  batch_.push_back(read_as<FlowWindow>(flow));
  batch_.back().measured = kept;
  packets_ += batch_.back().packets;
  if (batch_.size() == kBatch) hand_over();
}

void WindowJoiner::hand_over() {
  tasks_.flows(batch_);
  batch_.clear();
}

void WindowJoiner::close(std::uint64_t window) {
  hand_over();
  EventWindow ended{tasks_.window(), window, totals_[window]};
  ended.totals.partial |= window == first_ && ended.length.unit == WindowLength::Unit::ns &&
                          ended.totals.first_ns != ended.length.begin_of(window);
  balanced_ &= packets_ + ended.totals.untold_packets() == ended.totals.packets;
  for (const StateOutcome& outcome : outcomes_) outcome.found->begin(window);
  tasks_.end(ended, [this](Event&& event) {
    for (const StateOutcome& outcome : outcomes_)
      if (outcome.task == event.task) outcome.found->add(event);
    events_.put(std::move(event));
  });
  for (const StateOutcome& outcome : outcomes_) outcome.found->end();
  recalls_.end_window(tasks_, ended, events_);
  tasks_.forget_flows_seen();
  totals_.erase(window);
  packets_ = 0;
  open_.reset();
  ++windows_;
}

Analyst::Analyst(TaskSets tasks, std::vector<RecordRing*> workers, EventQueue& events,
                 std::span<const StateOutcome> outcomes, std::shared_ptr<RecallBoard> recalls)
    : tasks_(std::move(tasks)), workers_(std::move(workers)) {
  for (TaskSet& set : tasks_.sets()) {
    std::vector<StateOutcome> own;
    std::ranges::copy_if(outcomes, std::back_inserter(own),
                         [&](const StateOutcome& outcome) { return outcome.clock == joiners_.size(); });
    RecallWatch watch(set, recalls);
    joiners_.emplace_back(set, workers_.size(), events, std::move(own), std::move(watch));
  }
}

bool Analyst::poll() {
  std::size_t messages = 0;
  for (std::size_t worker = 0; worker < workers_.size(); ++worker)
    messages += workers_[worker]->drain_some([&](std::span<const std::byte> bytes) {
      const auto message = read_as<WindowMessage>(bytes);
      WindowJoiner& joiner = joiners_[message.clock];
      if (message.kind == WindowMessage::Kind::end)
        joiner.end(worker, message.window, read_as<WindowEnd>(bytes.subspan(sizeof message)));
      else
        joiner.tell(bytes);
    });
  return messages != 0;
}

bool Analyst::balanced() const noexcept { return std::ranges::all_of(joiners_, &WindowJoiner::balanced); }

std::uint64_t Analyst::windows() const noexcept {
  std::uint64_t windows = 0;
  for (const WindowJoiner& joiner : joiners_) windows += joiner.windows();
  return windows;
}

}  // namespace parshall
