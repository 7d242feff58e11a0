// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <functional>
#include <vector>

#include "pipeline/output/report.hpp"

namespace parshall {

/// The flows that stand first by a column, in falling order; absent values come last.
///
/// Memory: a record and its values for each of `top` flows, or of all.
class TopFlows {
 public:
  /// `column` is a place in the schema. `top`: how many; 0: all.
  TopFlows(std::size_t column, std::size_t top) noexcept : column_(column), top_(top) {}

  void offer(const ReportFlow& flow);
  void visit(const std::function<void(const ReportFlow&)>& visit);

 private:
  /// What the record says does not have to be kept twice.
  struct Kept {
    Value key;
    FlowRecord record;
    std::vector<Value> asked;
  };
  static bool falls(const Kept& a, const Kept& b) noexcept { return a.key > b.key; }

  std::size_t column_, top_;
  std::vector<Kept> kept_;  ///< a heap, where not all are kept
};

}  // namespace parshall
