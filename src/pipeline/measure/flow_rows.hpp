// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "base/huge_buffer.hpp"
#include "base/prefetch.hpp"
#include "pipeline/flow/in_flight.hpp"
#include "pipeline/flow/record.hpp"
#include "pipeline/measure/finding.hpp"
#include "pipeline/measure/registry.hpp"

namespace parshall {

/// One packet as the statistics see it.
struct RowUpdate {
  std::uint32_t slot;
  bool starts_flow;
  bool is_split = false;  ///< starts_flow, but only a record: the flow goes on
  bool is_late = false;   ///< starts_flow, but packets of it may have come before
  CountWord counts;
  std::uint64_t time_ns;
  LinkPlace place;

  std::uint32_t wire_bytes() const noexcept {
    return static_cast<std::uint32_t>(counts.ip_bytes() + counts.extra_bytes());
  }
};

/// What the chosen statistics keep for every flow: one row per slot, laid out once.
///
/// Shape: row = [last position + 1, when gaps are asked][last time + 1, when inter-arrival times are asked]
///        [statistics], 0 standing for "no packet yet", padded to a power of two bytes or to whole cache lines. Rows of
///        unused slots are never touched.
/// A record that an active timeout began, of a flow that goes on, begins with empty statistics, but for those of a
/// flow's first packets. A late packet (time before the one that came before it) has an inter-arrival time of 0.
class FlowRows {
 public:
  /// `jobs`: where other threads tell classes; null elsewhere.
  FlowRows(std::shared_ptr<const StatisticSet> set, std::size_t slots, ClassJobs* jobs = nullptr);

  const std::shared_ptr<const StatisticSet>& set() const noexcept { return set_; }
  static std::size_t memory_bytes(const StatisticSet& set, std::size_t slots) noexcept;

  /// Commits the memory, where a row is no longer than a cache line: longer ones are left to the flows that fill them.
  void populate() noexcept;

  void prefetch(std::uint32_t slot) const noexcept { prefetch_line(row(slot)); }

  /// The class of each flow, or what is known of it, of rows that these replace: both with a class of one classifier.
  void keep_classes(const FlowRows& before, std::size_t slots) noexcept;

  /// The same of where each flow began.
  void keep_origins(const FlowRows& before, std::size_t slots) noexcept;

  /// The flow goes on in another record.
  void flow_goes_on(std::uint32_t slot, const FlowRecord& ended) noexcept {
    if (set_->has_origins()) FlowOrigin::go_on(origin_state(slot), ended);
  }

  /// Statistics of records begin anew.
  void begin_record(std::uint32_t slot) noexcept;

  /// At most kStatBatch packets, in arrival order. `headers`: of each, with SideFacts where they were read; null: they
  /// were not.
  void update(std::span<const RowUpdate> packets, const TcpFacts* headers = nullptr) noexcept;

  /// The same packets after that, where something was found out about them.
  void update_found(std::span<const RowUpdate> packets, std::span<const PacketFinding> found) noexcept;

  /// Flows that have packets enough for a class found no room on their way to it: any packet of theirs may.
  bool class_jobs_wait() const noexcept { return jobs_waiting_ != 0; }
  /// What other threads told since.
  void take_classes() noexcept;
  /// Its record has: it may go on in another.
  void flow_ended(std::uint32_t slot) noexcept {
    if (jobs_waiting_ != 0 && set_->flow_class()->stop_waiting(class_state(slot))) --jobs_waiting_;
  }

  /// The flow's row goes to another slot.
  void move(std::uint32_t from, std::uint32_t to) noexcept {
    std::memcpy(rows_.data() + to * stride_, row(from), stride_);
  }

  /// The statistics part of a flow's row: what StatisticSet reads and merges.
  std::span<const std::byte> statistics(std::uint32_t slot) const noexcept {
    return {row(slot) + prefix_bytes_, set_->row_bytes()};
  }

 private:
  void begin(std::byte* row, const RowUpdate& packet) noexcept;
  void update_whole(std::span<const RowUpdate> packets) noexcept;
  void update_split(const RowUpdate& packet) noexcept;
  void update_side(std::span<const RowUpdate> packets, const TcpFacts* headers) noexcept;
  template <class SampleOf>
  void update_some(const StatisticSet::Placed& placed, std::span<const RowUpdate> packets, SampleOf sample_of) noexcept;
  void send_classes(std::span<const RowUpdate> packets) noexcept;
  std::byte* class_state(std::uint32_t slot) noexcept {
    return set_->class_state(rows_.data() + slot * stride_ + prefix_bytes_).data();
  }
  std::byte* origin_state(std::uint32_t slot) noexcept {
    return set_->origin_state(rows_.data() + slot * stride_ + prefix_bytes_);
  }
  const std::byte* row(std::uint32_t slot) const noexcept { return rows_.data() + slot * stride_; }
  std::size_t last_time_at() const noexcept { return uses_[static_cast<std::size_t>(Variable::gap)] ? 8 : 0; }

  std::shared_ptr<const StatisticSet> set_;
  std::array<bool, kVariables> uses_{};
  std::size_t prefix_bytes_ = 0;
  std::size_t stride_ = 0;
  HugeBuffer<std::byte> rows_;
  std::vector<StatisticSet::Placed> of_first_packets_, of_side_, of_tcp_;
  ClassJobs* jobs_;
  std::size_t jobs_waiting_ = 0;  ///< flows that found no room
};

}  // namespace parshall
