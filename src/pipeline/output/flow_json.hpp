// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "pipeline/output/report.hpp"

namespace parshall {

/// Writes flows as JSON objects: absent values as null, words in quotes, all else as numbers.
class FlowJson {
 public:
  explicit FlowJson(std::span<const ColumnInfo> columns);

  std::size_t longest() const noexcept { return longest_; }  ///< bytes that put() may touch
  char* put(char* out, const ReportFlow& flow) const noexcept;

 private:
  std::span<const ColumnInfo> columns_;
  std::vector<std::string> before_;  ///< each value: its name, and what parts it from the one before
  std::size_t longest_;
};

}  // namespace parshall
