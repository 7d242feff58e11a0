// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/labels/labeller.hpp"

#include <chrono>
#include <iterator>
#include <utility>

namespace parshall {

Labeller::Labeller(std::unique_ptr<Inspector> inspector, std::uint64_t one_in)
    : inspector_(std::move(inspector)), one_in_(one_in) {
  names_.emplace_back();
}

Labeller::~Labeller() {
  thread_ = {};  // before what it uses
  connections_.clear();
}

void Labeller::start() {
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

LabelFeed& Labeller::add_feed(bool can_wait) {
  const std::lock_guard lock(mutex_);
  return feeds_.emplace_back(can_wait);
}

void Labeller::run(const std::stop_token& stop) {
  constexpr unsigned kIdleTurns = 1000;
  constexpr std::chrono::milliseconds kNap{1};
  for (unsigned idle = 0; !stop.stop_requested();) {
    idle = label_some() ? 0 : idle + 1;
    if (idle > kIdleTurns)
      std::this_thread::sleep_for(kNap);
    else if (idle != 0)
      std::this_thread::yield();
  }
}

/// Labels what waits in the feeds. Returns whether there was anything.
bool Labeller::label_some() {
  constexpr std::size_t kBatch = 32;
  {
    const std::lock_guard lock(mutex_);
    while (served_.size() < feeds_.size()) served_.push_back(&feeds_[served_.size()]);
  }
  bool found = false;
  for (LabelFeed* const feed : served_) {
    const std::span<LabelJob> jobs = feed->ring().readable(kBatch);
    for (const LabelJob& job : jobs) label(job);
    feed->ring().release(jobs.size());
    found |= !jobs.empty();
  }
  return found;
}

void Labeller::label(const LabelJob& job) {
  Connection& connection = connection_of(job.connection);
  std::uint32_t& flow = connection.flows[job.way];
  if (flow != 0 && flow != job.flow) {  // another connection has the addresses and ports now
    connection = {.hash = job.connection};
    const std::lock_guard lock(mutex_);
    if (const auto at = labels_.find(job.connection); at != labels_.end()) at->second = {};
  }
  connection.flows[job.way] = job.flow;
  if (connection.is_done || job.bytes == 0) return;
  if (!connection.inspection) {
    connection.inspection = inspector_->begin();
    counted_connections_.fetch_add(1, std::memory_order_relaxed);
  }
  counted_packets_.fetch_add(1, std::memory_order_relaxed);
  const Inspected found = connection.inspection->read(std::span(job.packet).first(job.bytes), job.time_ns);
  if (found.basis != LabelBasis::none) keep(connection, found);
  connection.is_done = found.is_final || ++connection.packets == kMostPackets;
  if (connection.is_done) connection.inspection.reset();
}

Labeller::Connection& Labeller::connection_of(std::uint64_t hash) {
  if (const auto at = by_hash_.find(hash); at != by_hash_.end()) {
    connections_.splice(connections_.begin(), connections_, at->second);
    return connections_.front();
  }
  if (connections_.size() == kMostOpen) {
    by_hash_.erase(connections_.back().hash);
    connections_.pop_back();
  }
  connections_.emplace_front().hash = hash;
  by_hash_.emplace(hash, connections_.begin());
  return connections_.front();
}

void Labeller::keep(Connection& connection, const Inspected& found) {
  const std::lock_guard lock(mutex_);
  const auto [at, is_new] = labels_.try_emplace(connection.hash);
  at->second = {number_of(found.application), found.class_number, found.basis};
  if (!std::exchange(connection.has_label, true)) counted_labels_.fetch_add(1, std::memory_order_relaxed);
  if (!is_new) return;
  in_turn_.push_back(connection.hash);
  if (in_turn_.size() <= kMostLabels) return;
  labels_.erase(in_turn_.front());
  in_turn_.pop_front();
}

std::uint32_t Labeller::number_of(const std::string& application) {
  const auto [at, is_new] = numbers_.try_emplace(application, static_cast<std::uint32_t>(names_.size()));
  if (is_new) names_.push_back(application);
  return at->second;
}

ApplicationLabel Labeller::find(std::uint64_t connection) const noexcept {
  const std::lock_guard lock(mutex_);
  const auto at = labels_.find(connection);
  return at == labels_.end() ? ApplicationLabel() : at->second;
}

std::string_view Labeller::name(std::uint32_t application) const noexcept {
  const std::lock_guard lock(mutex_);
  return application < names_.size() ? std::string_view(names_[application]) : std::string_view();
}

LabelCounts Labeller::counts() const noexcept {
  LabelCounts counts{.connections = counted_connections_.load(std::memory_order_relaxed),
                     .labelled = counted_labels_.load(std::memory_order_relaxed),
                     .packets = counted_packets_.load(std::memory_order_relaxed)};
  const std::lock_guard lock(mutex_);
  for (const LabelFeed& feed : feeds_) counts.dropped += feed.dropped();
  return counts;
}

}  // namespace parshall
