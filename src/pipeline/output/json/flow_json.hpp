// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "pipeline/output/text/report.hpp"

namespace parshall {

/// Writes flows as JSON objects: absent values as null, words in quotes, everything else as numbers.
class FlowJson {
 public:
  explicit FlowJson(std::span<const ColumnInfo> columns);

  std::size_t longest() const noexcept { return longest_; }  ///< most bytes that put() may touch
  char* put(char* out, const ReportFlow& flow) const noexcept;

 private:
  std::span<const ColumnInfo> columns_;
  std::vector<std::string> before_;  ///< text before each value: separator and name
  std::size_t longest_;
};

}  // namespace parshall
