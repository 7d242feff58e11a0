// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "compare/report/columns.hpp"
#include "pipeline/output/output.hpp"

namespace parshall {

/// How a comparison is shown. docs/compare.md defines its numbers.
struct CompareReport {
  std::string format = "text";  ///< text, csv, json or parquet
  std::string only = "all";     ///< all, or lossy: flows that passed wholly are left out
  std::size_t top = 10;         ///< most flows in text; 0: all

  std::vector<const ComparedFlow*> flows(const Comparison& found) const;

  /// Returns what went wrong beside the output.
  std::optional<Error> write(const Compared& compared, Output& output) const;
};

}  // namespace parshall
