// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <span>

#include "pipeline/flow/record.hpp"
#include "pipeline/measure/registry.hpp"
#include "pipeline/output/stage_counts.hpp"

namespace parshall {

/// A flow in its slot, or as it was when it ended.
struct TalliedFlow {
  const FlowRecord& record;
  std::span<const std::byte> row;  ///< row of the statistics; empty without any
  ClassId class_id;                ///< kNotClassified if classes are not counted
};

/// Counts of flows, also by class if the first statistics of a run classify. Memory for the classes is allocated once.
struct FlowTally : StageCounts {
  /// Null: flows have no classes.
  explicit FlowTally(const StatisticSet* statistics);

  bool has_classes() const noexcept { return !classes.empty(); }

  void count_live(const TalliedFlow& flow) noexcept {
    add_live(flow.record);
    count_class(flow);
  }
  void count_ended(const TalliedFlow& flow) noexcept {
    add_ended(flow.record);
    count_class(flow);
  }

  /// Clears the counts but keeps the memory for classes, which might not be available again.
  void clear() noexcept;

 private:
  void count_class(const TalliedFlow& flow) noexcept {
    if (has_classes()) [[unlikely]]
      add_to_class(flow.class_id, flow.record);
  }
};

}  // namespace parshall
