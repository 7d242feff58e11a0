// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/huge_buffer.hpp"
#include "base/result.hpp"
#include "pipeline/output/records/flow_order.hpp"
#include "pipeline/output/text/report.hpp"

namespace parshall {

/// Hands flows on in falling order by a column: absent values last, equal ones in order of arrival. Flows that fit are
/// sorted in memory. With more, sorted runs go to an unnamed temporary file and are merged from there.
///
/// Memory: memory_bytes(), however many flows there are; unneeded memory is not touched.
/// Full:   if no file can be written, all flows are handed on in several sorted pieces, and problem() says so.
/// Source: Knuth, The Art of Computer Programming 3, 5.4.1 (merging of runs).
class SortedRuns {
 public:
  using Visit = std::function<void(const ReportFlow&)>;
  static constexpr std::size_t kBytes = std::size_t{32} << 20;

  static constexpr std::uint64_t memory_bytes() noexcept { return kBytes + 2 * kWriteBytes; }

  /// `columns` is the number of columns of each flow, the texts of which take at most `text_bytes`. `top` flows are
  /// handed on; 0: all.
  SortedRuns(FlowOrder order, std::size_t columns, std::uint64_t top, Visit visit, std::size_t text_bytes = 0,
             std::size_t bytes = kBytes);
  ~SortedRuns();
  SortedRuns(const SortedRuns&) = delete;
  SortedRuns& operator=(const SortedRuns&) = delete;

  void offer(const ReportFlow& flow);
  void finish();  ///< called once, after the last flow

  const std::optional<Error>& problem() const noexcept { return problem_; }

 private:
  static constexpr std::size_t kWriteBytes = std::size_t{1} << 20;

  /// Sort key and place of a flow in `rows_`.
  struct Place {
    Value key;
    std::uint32_t at;
  };
  /// Rest of a run, in the file and in memory.
  struct Run {
    std::uint64_t from, end;
    std::span<std::byte> block;  ///< its part of `rows_`
    std::size_t at = 0, filled = 0;
    Value key;  ///< sort key of the row at `at`
    FlowRecord record;
    std::size_t number;
  };

  FlowRecord record_at(const std::byte* row) const noexcept;
  std::byte* row(std::size_t number) noexcept { return rows_.data() + number * row_bytes_; }
  Value key_of(const std::byte* row) const noexcept;
  std::span<Value> asked(std::byte* row) const noexcept {
    return {reinterpret_cast<Value*>(row + sizeof(FlowRecord)), asked_};
  }
  char* texts(std::byte* row) const noexcept { return reinterpret_cast<char*>(row + row_bytes_ - text_bytes_); }
  void sort();
  bool write_run();
  void merge(std::span<std::byte> memory);
  bool next(Run& run);
  bool refill(Run& run);
  void hand_on_rows();
  void hand_on(const std::byte* row);

  FlowOrder order_;
  std::size_t asked_, text_bytes_, row_bytes_;
  std::uint64_t top_, handed_on_ = 0;
  Visit visit_;
  HugeBuffer<std::byte> rows_;  ///< rows of a record, its requested values, and their texts
  HugeBuffer<Place> places_;
  std::size_t capacity_, count_ = 0;
  std::vector<Value> values_;
  int file_ = -1;
  std::vector<std::uint64_t> run_ends_;  ///< offsets in the file
  bool in_pieces_ = false;
  std::optional<Error> problem_;
};

}  // namespace parshall
