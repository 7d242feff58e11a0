// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "pipeline/flow/record.hpp"

namespace parshall::live {

/// A row, as a filter sees it.
struct FilteredRow {
  const FlowKey& key;
  std::function<double(std::size_t column)> number;  ///< value of a number column; NaN if it does not exist
};

/// Column that a filter may compare with a number, or with a text.
struct FilterColumn {
  std::string name;
  std::size_t index;
  const std::vector<std::string>* texts = nullptr;  ///< of a column of texts, the numbers of which are indices of these
};

/// What rows have of a flow's key.
struct KeyParts {
  int addresses = 2;  ///< 1: the source alone
  int ports = 2;      ///< 1: the source port alone
  bool protocol = true;
  std::string_view rows = "flows";
};

/// Filter of rows: "port 53 and pps > 1000".
///
/// Terms are host ADDRESS, net PREFIX, port NUMBER, each also with src or dst in front, proto NAME, vlan NUMBER, and
/// COLUMN COMPARISON NUMBER; of a column of texts, COLUMN PART or COLUMN = TEXT. They are joined by and, or, not and
/// brackets; terms side by side mean and. An address, a prefix and the name of a protocol may stand alone.
class RowFilter {
 public:
  RowFilter() = default;  ///< lets every row pass

  /// Parses a filter; an error names the word that is wrong.
  static Result<RowFilter> parse(const std::string& text, const std::vector<FilterColumn>& columns,
                                 const KeyParts& parts = {});

  bool empty() const noexcept { return !matches_; }
  bool matches(const FilteredRow& row) const { return !matches_ || matches_(row); }

 private:
  using Test = std::function<bool(const FilteredRow&)>;
  class Parser;

  Test matches_;
};

}  // namespace parshall::live
