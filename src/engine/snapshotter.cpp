// SPDX-License-Identifier: Apache-2.0
#include "engine/snapshotter.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "pipeline/output/records/ended_record.hpp"

namespace parshall {
namespace {

std::size_t stride_of(const StatisticSet* statistics) noexcept {
  return sizeof(RecordHeader) + (statistics != nullptr ? statistics->row_bytes() : 0);
}

}  // namespace

Snapshotter::Snapshotter(bool flows_move, const StatisticSet* statistics, std::vector<StatePackets> states)
    : flows_move_(flows_move), copies_(statistics), later_(statistics) {
  snapshot_.counts = copies_;  // with memory for classes
  snapshot_.states = std::move(states);
}

void Snapshotter::reserve(std::uint32_t slots, const StatisticSet* statistics) { map(slots, stride_of(statistics)); }

/// Maps address space for a copy of every flow. Throws std::bad_alloc.
void Snapshotter::map(std::uint32_t slots, std::size_t stride) {
  const std::size_t bytes = slots * stride;
  if (snapshot_.flows.size() < bytes) snapshot_.flows = HugeBuffer<std::byte>(bytes, /*huge_pages=*/false);
  if (flows_move_) marks_.resize(slots, !mark_);
}

bool Snapshotter::begin(std::uint32_t slots, const StatisticChoice& statistics) noexcept {
  const std::size_t stride = stride_of(statistics.set.get());
  try {
    map(slots, stride);
  } catch (const std::bad_alloc&) {
    if (statistics.set) return false;
  }
  slots_ = slots;
  snapshot_.statistics = statistics;
  snapshot_.stride = stride;
  copies_.clear();
  later_.clear();
  next_number_ = snapshot_.number;
  state_.store(State::copying, std::memory_order_relaxed);
  return true;
}

std::uint32_t Snapshotter::slice_end() const noexcept {
  constexpr std::uint32_t kSlots = 256;  // takes a few microseconds at most
  return std::min(copied_ + kSlots, slots_);
}

void Snapshotter::copy(const TalliedFlow& flow) noexcept {
  const RecordHeader header{
      .snapshot = snapshot_.number, .generation = snapshot_.statistics.generation, .record = flow.record};
  std::byte* const to = snapshot_.flows.data() + copies_[Counter::live_flows] * snapshot_.stride;
  std::memcpy(to, &header, sizeof header);
  if (!flow.row.empty()) std::memcpy(to + sizeof header, flow.row.data(), flow.row.size());
  copies_.count_live(flow);
}

bool Snapshotter::flow_moved(std::uint32_t from, std::uint32_t to) noexcept {
  if (marked(from)) {
    mark(to);
    return false;
  }
  if (!marked(to)) return false;
  mark(from);  // counts as copied, so that copies never outnumber slots
  return true;
}

void Snapshotter::finish(const StageCounts& ended, const StageCounts& flowless) noexcept {
  StageCounts& counts = snapshot_.counts;
  counts = copies_;
  counts += ended;
  counts += flowless;
  counts -= later_;
  counts.complete_bytes();
  copied_ = 0;
  mark_ = !mark_;  // all slots are marked; now none is
  next_number_ = snapshot_.number + 1;
  state_.store(State::ready, std::memory_order_release);
}

}  // namespace parshall
