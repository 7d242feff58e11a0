// SPDX-License-Identifier: Apache-2.0
#include "engine/measure_stage.hpp"

namespace parshall {
namespace {

/// Returns the bytes of a row of SlotRows.
std::size_t slot_bytes(const FlowStageOptions& options) noexcept {
  std::size_t bytes = options.tracks_flows() ? FlowTracker::slot_bytes(options.states != nullptr) : 0;
  for (const WindowPlan& plan : options.windows) bytes += WindowRows::slot_bytes(plan);
  return bytes;
}

/// Returns the rows of the measure stage for that many slots of the table.
std::size_t rows_of(const FlowStageOptions& options, std::size_t table_slots) noexcept {
  return options.biflow ? Biflows::rows_for(table_slots) : table_slots;
}

/// Returns the most of that many rows that flows use at a time.
std::size_t most_used(const FlowStageOptions& options, std::size_t rows) noexcept {
  return std::min(rows, rows_of(options, options.flows));
}

}  // namespace

std::size_t MeasureStage::row_memory_bytes(const FlowStageOptions& options, std::size_t rows) noexcept {
  const std::size_t used = most_used(options, rows);
  std::size_t bytes = SlotRows::memory_bytes(rows, slot_bytes(options));
  if (options.tracks_flows()) bytes += FlowTracker::memory_bytes(options.findings, used);
  for (const WindowPlan& plan : options.windows) bytes += WindowRows::memory_bytes(plan, used, options.waiting_rows);
  return bytes;
}

MeasureStage::MeasureStage(const FlowStageOptions& options, std::size_t table_slots)
    : biflows_(options.biflow ? std::make_unique<Biflows>(table_slots) : nullptr),
      by_slot_(rows_of(options, table_slots), slot_bytes(options), most_used(options, rows_of(options, table_slots))),
      messages_(options.windows.empty() ? 64 : options.window_ring_bytes),
      can_wait_(options.can_wait) {
  if (options.class_rings != 0) jobs_ = std::make_unique<ClassJobs>(options.class_rings, options.class_ring_jobs);
  if (options.states) states_ = std::make_unique<FlowStates>(options.states, options.can_wait, options.seed);
  if (options.tracks_flows())
    tracker_ = std::make_unique<FlowTracker>(options.findings, states_.get(), by_slot_, options.seed,
                                             options.biflow ? Timeouts{} : options.timeouts);
  for (std::uint32_t i = 0; i < options.windows.size(); ++i)
    windows_.push_back(std::make_unique<WindowRows>(options.windows[i], i, by_slot_, messages_, options.can_wait,
                                                    options.waiting_rows));
  if (options.control) control_ = std::make_unique<WorkerControl>(options.control, *options.states);
  if (options.populate) populate();
  keeps_classes_ = options.classified_batch != 0;
  follows_tcp_ = std::ranges::any_of(options.findings, &FindingNeeds::tcp);
  reads_headers_ = follows_tcp_ || options.side_facts;
  keeps_names_ = options.packet_names;
  payloads_behind_ = options.payloads_behind;
  address_names_ = options.address_names;
  reads_payloads_ = payloads_behind_.has_value();
  tells_kept_out_ = options.flood_filter_for_room && !options.states && !options.biflow;
  if (options.explain) costs_ = std::make_unique<std::array<StageCost, kStages>>();
}

void MeasureStage::use(std::shared_ptr<const StatisticSet> statistics) {
  std::unique_ptr<FlowRows> before = std::move(rows_);
  const bool keeps_origins = before && before->set()->has_origins() && statistics && statistics->has_origins();
  const bool keeps_names = before && before->set()->names() != nullptr && statistics && statistics->names() != nullptr;
  const bool keeps_labels = before && before->set()->label() != nullptr && statistics && statistics->label() != nullptr;
  if (!keeps_classes_ && !keeps_origins && !keeps_names && !keeps_labels) before.reset();
  drop_statistics();
  if (!statistics || statistics->row_bytes() == 0) return;
  try {
    use_both(*statistics);
    if (statistics->direction_row_bytes() != 0)
      rows_ = std::make_unique<FlowRows>(statistics, by_slot_.slots(),
                                         FlowRows::Options{.jobs = jobs_.get(),
                                                           .can_wait = can_wait_,
                                                           .has_packet_names = keeps_names_,
                                                           .payloads_behind = payloads_behind_,
                                                           .names_not_read = &names_not_read_,
                                                           .address_names = address_names_});
  } catch (const std::bad_alloc&) {
    drop_statistics();
    throw;
  }
  statistics_ = std::move(statistics);
  if (keeps_origins) rows_->keep_origins(*before, by_slot_.slots());
  if (keeps_names) rows_->keep_names(*before, by_slot_.slots());
  if (keeps_labels) rows_->keep_labels(*before, by_slot_.slots());
  if (keeps_classes_ && before && before->set()->classifies() && classifies())
    rows_->keep_classes(*before, by_slot_.slots());
}

void MeasureStage::use_both(const StatisticSet& statistics) {
  if (!biflows_ || !statistics.has_other_directions()) return;
  biflow_row_.resize(statistics.row_bytes());
  if (statistics.both() == nullptr) return;
  pending_both_.resize(pending_.size());
  both_rows_ = std::make_unique<FlowRows>(statistics.both(), by_slot_.slots() / Biflows::rows_for(1),
                                          FlowRows::Options{.can_wait = can_wait_});
}

void MeasureStage::drop_statistics() noexcept {
  statistics_.reset();
  rows_.reset();
  both_rows_.reset();
  biflow_row_.clear();
}

std::span<const std::byte> MeasureStage::biflow_row(std::uint32_t slot) const noexcept {
  const std::uint32_t source = biflows_->source_row(slot), other = Biflows::other_way(source);
  const bool has_reverse = biflows_->was_seen(other);
  std::span<const std::byte> forward;
  if (rows_) forward = has_reverse ? rows_->statistics(source, other) : rows_->statistics(source);
  if (biflow_row_.empty()) return forward;
  auto end = std::ranges::copy(forward, biflow_row_.begin()).out;
  if (statistics_->has_reverse()) {
    if (has_reverse)
      end = std::ranges::copy(rows_->statistics(other), end).out;
    else
      end = std::fill_n(end, forward.size(), std::byte{0});
  }
  if (both_rows_) std::ranges::copy(both_rows_->statistics(slot), end);
  return biflow_row_;
}

void MeasureStage::add_to_both(std::size_t at, std::size_t count) noexcept {
  const std::span packets(&pending_both_[at], count);
  std::copy_n(&pending_[at], count, packets.begin());
  for (RowUpdate& packet : packets) packet.slot = Biflows::slot_of(packet.slot);
  both_rows_->update(packets, reads_headers_ ? &pending_tcp_[at] : nullptr);
}

void MeasureStage::add_kept_out(const PacketFacts& facts, LinkPlace place, FlowKeys key_of) noexcept {
  place = note(facts, place);
  for (const auto& windows : windows_) {
    if (windows->is_beyond(place)) flush(key_of);
    if (tells_kept_out_)
      windows->tell_alone(facts, place);
    else
      windows->add_kept_out(facts, place);
  }
}

void MeasureStage::count_directions(std::span<RowUpdate> packets, FlowKeys key_of) noexcept {
  for (RowUpdate& packet : packets) {
    // The other direction has nothing in the new record yet, since everything before was measured.
    if (packet.is_split && rows_) [[unlikely]]
      rows_->begin_record(Biflows::other_way(packet.slot));
    biflows_->add(packet, key_of);
  }
}

void MeasureStage::measure_oldest(FlowKeys key_of) noexcept {
  const std::size_t at = measured_ % pending_.size();
  const std::size_t count = std::min<std::size_t>(kStatBatch, added_ - measured_);
  const std::span packets(&pending_[at], count);
  timed_ = costs_ && measured_batches_++ % kTimedEvery == 0;
  if (both_rows_) {
    const auto timer = time(MeasuringPart::statistics, count);
    add_to_both(at, count);
  }
  if (biflows_) count_directions(packets, key_of);
  if (rows_) {
    const auto timer = time(MeasuringPart::statistics, count);
    rows_->update(packets, reads_headers_ ? &pending_tcp_[at] : nullptr, &pending_raw_[at], &key_of);
  }
  if (!states_) {
    measure(packets, &pending_tcp_[at], key_of);
  } else {
    for (std::size_t done = 0, end = 0; done < count; done = end) {
      if (states_->changes_at(packets[done].place)) change_states(packets[done].place);
      end = done + 1;
      while (end < count && !states_->changes_at(packets[end].place)) ++end;
      measure(packets.subspan(done, end - done), &pending_tcp_[at + done], key_of);
    }
  }
  measured_ += count;
  // What the next packets have by slot was prefetched when they were added.
  const std::size_t next = std::min<std::size_t>(kStatBatch, added_ - measured_);
  if (next == 0) return;
  const std::span soon(&pending_[measured_ % pending_.size()], next);
  for (const auto& windows : windows_) windows->prefetch_rows(soon);
  if (tracker_ && follows_tcp_)
    tracker_->prefetch_connections(soon, &pending_tcp_[measured_ % pending_.size()], key_of);
}

void MeasureStage::measure(std::span<const RowUpdate> packets, const TcpFacts* tcp, FlowKeys key_of) noexcept {
  std::span<PacketFinding> found;
  if (tracker_) {
    const auto timer = time(MeasuringPart::findings, packets.size());
    found = {findings_.data(), packets.size()};
    tracker_->find_states(packets, found, key_of);
    for (const auto& windows : windows_) windows->prefetch(packets, found);
    tracker_->find(packets, {tcp, follows_tcp_ ? packets.size() : 0}, found, key_of);
    if (rows_ && follows_tcp_) rows_->update_found(packets, found);
    if (both_rows_ && follows_tcp_)
      both_rows_->update_found(
          {&pending_both_[static_cast<std::size_t>(packets.data() - pending_.data())], packets.size()}, found);
  }
  if (windows_.empty()) return;
  const auto timer = time(MeasuringPart::windows, packets.size());
  for (const auto& windows : windows_) windows->update(packets, found, key_of);
}

void MeasureStage::change_states(LinkPlace place) noexcept {
  states_->change(place,
                  [&](std::uint32_t clock, std::uint64_t window) { windows_[clock]->settle_below(window, place); });
}

void MeasureStage::finish(LinkPlace now) noexcept {
  for (const auto& windows : windows_) windows->finish(later_of(now));
}

void MeasureStage::end_control_window(LinkPlace now, const WorkerLoad& load) noexcept {
  const std::uint64_t missed = load.missed - std::exchange(missed_, load.missed);
  for (const auto& windows : windows_) windows->note_missed(missed);
  std::uint64_t rows = 0;
  for (const auto& windows : windows_) rows += windows->rows_begun();
  control_->end_window(later_of(now), load, tracker_->weighed_packets(), tracker_->effective_packets(),
                       tracker_->new_flows(), rows, *states_);
}

}  // namespace parshall
