// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/networks.hpp"
#include "pipeline/output/groups/grouping.hpp"

namespace parshall::live {

/// Row of a view that was opened, to see the flows of that group alone.
struct Opened {
  const Grouping* by = nullptr;
  FlowKey key = {};
  std::string text = {};  ///< such as "host 10.0.0.1"

  friend bool operator==(const Opened& a, const Opened& b) noexcept { return a.by == b.by && a.key == b.key; }
};

/// Returns the texts of opened rows, the first one first.
std::string within_text(const std::vector<Opened>& within);

/// Test of whether a flow is in all of some groups. Keeps references to the arguments of its constructor.
class Within {
 public:
  /// `columns` are those of `values` below, and `texts` as in Rows. Without the column that a group is a value of, it
  /// has no flow.
  Within(const std::vector<Opened>& opened, const Networks& local, std::span<const ColumnInfo> columns,
         std::span<const std::vector<std::string>> texts);

  bool empty() const noexcept { return opened_.empty(); }
  bool contains(const FlowKey& flow, std::span<const float> values) const noexcept;

 private:
  const std::vector<Opened>& opened_;
  const Networks& local_;
  std::span<const std::vector<std::string>> texts_;
  std::vector<std::size_t> columns_;  ///< Grouping::of_column of each, as an index
};

}  // namespace parshall::live
