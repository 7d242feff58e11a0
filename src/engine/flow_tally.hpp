// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <span>

#include "pipeline/flow/record.hpp"
#include "pipeline/measure/registry.hpp"
#include "pipeline/output/monitor_counts.hpp"

namespace parshall {

/// A flow as its slot has it, or had it to its end.
struct MeasuredFlow {
  const FlowRecord& record;
  std::span<const std::byte> row;  ///< of the statistics; empty without
  ClassId class_id;                ///< kNotClassified where no classes are counted
};

/// Counts of flows, by class too where the first statistics of a run tell classes: room for these is taken once.
struct FlowTally : MonitorCounts {
  /// Null: flows have no classes.
  explicit FlowTally(const StatisticSet* statistics);

  bool has_classes() const noexcept { return !classes.empty(); }

  void count_live(const MeasuredFlow& flow) noexcept {
    add_live(flow.record);
    count_class(flow);
  }
  void count_ended(const MeasuredFlow& flow) noexcept {
    add_ended(flow.record);
    count_class(flow);
  }

  /// Without giving up the room for classes, which there might be no memory for again.
  void clear() noexcept;

 private:
  void count_class(const MeasuredFlow& flow) noexcept {
    if (has_classes()) [[unlikely]]
      add_to_class(flow.class_id, flow.record);
  }
};

}  // namespace parshall
