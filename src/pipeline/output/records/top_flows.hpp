// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "pipeline/output/records/flow_order.hpp"
#include "pipeline/output/text/report.hpp"

namespace parshall {

/// The first flows in falling order by a column; absent values come last.
///
/// Memory: memory_bytes(): a record and its values for each of `top` flows, and their texts.
class TopFlows {
 public:
  /// `top` is how many, at least one.
  TopFlows(FlowOrder order, std::size_t top) noexcept : order_(order), top_(top) {}

  /// Returns whether that many flows are few enough for memory, with `asked` values each besides the record's.
  static bool fits(std::size_t top, std::size_t asked) noexcept {
    return top != 0 && top <= kMostBytes / flow_bytes(asked);
  }
  /// `texts` are the most bytes of a flow's texts.
  static std::uint64_t memory_bytes(std::size_t top, std::size_t asked, std::size_t texts = 0) noexcept {
    return top * (flow_bytes(asked) + texts);
  }

  void offer(const ReportFlow& flow);
  void visit(const std::function<void(const ReportFlow&)>& visit);

 private:
  /// A flow kept without the values that its record has.
  struct Kept {
    Value key;
    FlowRecord record;
    std::vector<Value> asked;
    std::vector<char> texts = {};  ///< of `asked`
  };
  static constexpr std::size_t kMostBytes = std::size_t{32} << 20, kAllocation = 32;

  /// Adds half as much again, for growth and for sorting.
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
