// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "pipeline/output/output.hpp"
#include "pipeline/output/record_spool.hpp"

namespace parshall {

/// Lines of cells, in columns as wide as their widest cell: which is known after the last line, so that they wait, in
/// memory first, then in an unnamed temporary file.
///
/// Memory: memory_bytes(), however many lines there are.
/// Full:   where no file can be written, so many lines at a time have their widths.
class TextTable {
 public:
  static constexpr std::uint64_t memory_bytes() noexcept { return kBytes + kFileBytes; }

  /// The first `left` columns are aligned to the left, numbers to the right.
  TextTable(std::vector<std::string> head, std::size_t left, Output& output)
      : widths_(head.size()), left_(left), output_(output) {
    add(head);
    has_lines_ = false;
  }

  /// As many cells as the head has.
  void add(std::span<const std::string> cells);

  /// Once, after the last line: nothing where there was none. False: lines could not be read back.
  bool finish();

 private:
  static constexpr std::size_t kBytes = std::size_t{4} << 20;
  static constexpr std::uint64_t kFileBytes = std::uint64_t{4} << 20;  ///< of what is on its way there, and back

  void write_lines();

  std::vector<std::size_t> widths_;
  std::size_t left_;
  Output& output_;
  std::unique_ptr<RecordSpool> lines_ = empty();
  std::vector<std::byte> line_;  ///< that is added
  bool has_lines_ = false, is_begun_ = false, is_whole_ = true;

  static std::unique_ptr<RecordSpool> empty() {
    return std::make_unique<RecordSpool>(SpoolLimits{.memory_bytes = kBytes, .without_file_bytes = 0});
  }
};

}  // namespace parshall
