// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "pipeline/output/flow_order.hpp"
#include "pipeline/output/report.hpp"

namespace parshall {

/// The flows that stand first by a column, in falling order; absent values come last.
///
/// Memory: memory_bytes(): a record and its values for each of `top` flows.
class TopFlows {
 public:
  /// `order` is of the columns. `top`: how many, one at least.
  TopFlows(FlowOrder order, std::size_t top) noexcept : order_(order), top_(top) {}

  /// Whether they are so few that they are kept in memory, with so many values that no record gives.
  static bool fits(std::size_t top, std::size_t asked) noexcept {
    return top != 0 && top <= kMostBytes / flow_bytes(asked);
  }
  static std::uint64_t memory_bytes(std::size_t top, std::size_t asked) noexcept { return top * flow_bytes(asked); }

  void offer(const ReportFlow& flow);
  void visit(const std::function<void(const ReportFlow&)>& visit);

 private:
  /// What the record says does not have to be kept twice.
  struct Kept {
    Value key;
    FlowRecord record;
    std::vector<Value> asked;
  };
  static constexpr std::size_t kMostBytes = std::size_t{32} << 20, kAllocation = 32;

  /// Half as much again where they grow and where they are sorted.
  static constexpr std::size_t flow_bytes(std::size_t asked) noexcept {
    return sizeof(Kept) * 3 / 2 + kAllocation + asked * sizeof(Value);
  }
  static bool falls(const Kept& a, const Kept& b) noexcept {
    return FlowOrder::comes_first(a.key, a.record, b.key, b.record);
  }

  FlowOrder order_;
  std::size_t top_;
  std::vector<Kept> kept_;  ///< a heap
};

}  // namespace parshall
