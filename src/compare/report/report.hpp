// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string>

#include "compare/comparison.hpp"
#include "pipeline/output/output.hpp"

namespace parshall::cli {

/// How a comparison is shown. docs/compare.md defines its numbers.
struct CompareReport {
  std::string format = "text";  ///< text, csv or json
  std::string only = "all";     ///< all, or lossy: flows that passed wholly are left out
  std::size_t top = 10;         ///< most flows in text; 0: all

  void write(const Tap& up, const Tap& down, const Comparison& comparison, Output& output) const;
};

}  // namespace parshall::cli
