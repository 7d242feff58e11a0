// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "pipeline/output/output.hpp"
#include "pipeline/output/queue/record_spool.hpp"

namespace parshall {

/// Table whose columns are as wide as their widest cell. The widths are known only after the last line, so lines wait:
/// in memory first, then in an unnamed temporary file.
///
/// Memory: memory_bytes(), however many lines there are.
/// Full:   if no file can be written, the table is written in parts, each with its own widths.
class TextTable {
 public:
  static constexpr std::uint64_t memory_bytes() noexcept { return kBytes + kFileBytes; }

  /// Aligns the first `left` columns to the left and numbers to the right.
  TextTable(std::vector<std::string> head, std::size_t left, Output& output)
      : widths_(head.size()), left_(left), output_(output) {
    add(head);
    has_lines_ = false;
  }

  /// Adds a line with as many cells as the head.
  void add(std::span<const std::string> cells);

  /// Ends the table; without lines it writes nothing. Returns false if lines could not be read back. Called once.
  bool finish();

 private:
  static constexpr std::size_t kBytes = std::size_t{4} << 20;
  static constexpr std::uint64_t kFileBytes = std::uint64_t{4} << 20;  ///< data on its way to the file, and back

  void write_lines();

  std::vector<std::size_t> widths_;
  std::size_t left_;
  Output& output_;
  std::unique_ptr<RecordSpool> lines_ = empty();
  std::vector<std::byte> line_;  ///< line being added
  bool has_lines_ = false, is_begun_ = false, is_whole_ = true;

  static std::unique_ptr<RecordSpool> empty() {
    return std::make_unique<RecordSpool>(SpoolLimits{.memory_bytes = kBytes, .without_file_bytes = 0});
  }
};

}  // namespace parshall
