// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <cstddef>
#include <ios>
#include <istream>
#include <span>
#include <string>
#include <vector>

namespace parshall {

/// Splits CSV into records. Source: RFC 4180, section 2; lines may end in LF alone, and the last one needs no end.
class CsvRecords {
 public:
  /// Rejects records with more than `most_cells` cells.
  CsvRecords(std::istream& csv, std::size_t most_cells) : csv_(*csv.rdbuf()), most_cells_(most_cells) {}

  std::size_t line() const noexcept { return line_; }  ///< line on which the record starts
  const std::string& problem() const noexcept { return problem_; }
  std::span<const std::string> cells() const noexcept { return std::span(cells_).first(count_); }
  std::size_t lines() const noexcept { return next_line_ - line_; }  ///< lines that the record takes
  bool failed() const noexcept { return failed_; }                   ///< the problem is that of reading, not of a line

  /// Reads the next record, skipping empty lines. Returns false at the end, or after a problem.
  bool next() {
    return try_to([this] { return next_record(); });
  }

  /// Skips the rest of a line with a problem, so that next() can go on. Returns false if it cannot.
  bool resume() {
    if (failed_) return false;
    problem_.clear();
    return try_to([this] {
      while (after_ != '\n' && after_ != kEnd) after_ = csv_.sbumpc();
      return true;
    });
  }

 private:
  template <class Step>
  bool try_to(const Step& step) {
    try {
      return step();
    } catch (const std::ios_base::failure&) {  // a folder, or a broken disk
      problem_ = "the file cannot be read any further";
      failed_ = true;
      return false;
    }
  }

  bool next_record() {
    line_ = next_line_;
    skip_byte_order_mark();
    do {
      line_ = next_line_++;
    } while (skip_empty_line());
    count_ = 0;
    if (csv_.sgetc() == kEnd) return false;
    for (after_ = ','; after_ == ',';) {
      std::string& cell = new_cell();
      after_ = csv_.sgetc() == '"' ? quoted_cell(cell) : plain_cell(cell);
      if (cell.size() > kLongestCell) problem_ = fmt::format("a cell has more than {} bytes", kLongestCell);
      if (count_ > most_cells_) problem_ = "there are too many cells";
      if (!problem_.empty()) return false;
    }
    return true;
  }

  void skip_byte_order_mark() {
    if (next_line_ != 1 || csv_.sgetc() != 0xEF) return;
    for (int i = 0; i < 3; ++i) csv_.sbumpc();
  }

  bool skip_empty_line() {
    if (csv_.sgetc() == '\r') csv_.sbumpc();
    if (csv_.sgetc() != '\n') return false;
    csv_.sbumpc();
    return true;
  }

  /// Reuses the cells of the last record, since a file has many records.
  std::string& new_cell() {
    if (count_ == cells_.size()) cells_.emplace_back();
    cells_[count_].clear();
    return cells_[count_++];
  }

  /// Reads a cell and returns the character behind it: a comma, LF or the file's end.
  int plain_cell(std::string& cell) {
    int c = csv_.sbumpc();
    for (; c != ',' && c != '\n' && c != kEnd && cell.size() <= kLongestCell; c = csv_.sbumpc()) {
      if (c == '"') problem_ = "a quote is inside a cell that does not start with one: write it as \"a \"\"b\"\"\"";
      if (c == '\r' && csv_.sgetc() == '\n') continue;
      cell += static_cast<char>(c);
    }
    return c;
  }

  int quoted_cell(std::string& cell) {
    csv_.sbumpc();
    int c = csv_.sbumpc();
    for (; c != kEnd && cell.size() <= kLongestCell; c = csv_.sbumpc()) {
      if (c == '\n') ++next_line_;
      if (c != '"' || csv_.sgetc() == '"') {
        if (c == '"') csv_.sbumpc();
        cell += static_cast<char>(c);
        continue;
      }
      int after = csv_.sbumpc();
      if (after == '\r' && csv_.sgetc() == '\n') after = csv_.sbumpc();
      if (after != ',' && after != '\n' && after != kEnd) problem_ = "a comma is missing after a cell in quotes";
      return after;
    }
    problem_ = "a quote is not closed";
    return c;
  }

  static constexpr std::size_t kLongestCell = 1000;  ///< bytes; longer cells mean that it is another kind of file
  static constexpr int kEnd = std::char_traits<char>::eof();

  std::streambuf& csv_;
  std::size_t most_cells_;
  std::size_t line_ = 0, next_line_ = 1, count_ = 0;
  int after_ = kEnd;  ///< character behind the last cell
  bool failed_ = false;
  std::vector<std::string> cells_;
  std::string problem_;
};

}  // namespace parshall
