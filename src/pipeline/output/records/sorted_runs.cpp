// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/records/sorted_runs.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <utility>

#include "pipeline/output/files/unnamed_file.hpp"
#include "pipeline/output/records/kept_texts.hpp"

namespace parshall {
namespace {

constexpr std::size_t kLeastRows = 64;

/// Makes NaN absent, since it has no place in an order.
Value comparable(const Value& key) noexcept {
  return key.present() && key.type() == ValueType::real && std::isnan(key.as_real()) ? Value() : key;
}

}  // namespace

SortedRuns::SortedRuns(FlowOrder order, std::size_t columns, std::uint64_t top, Visit visit, std::size_t text_bytes,
                       std::size_t bytes)
    : order_(order),
      asked_(columns - order.of_record()),
      text_bytes_((text_bytes + alignof(FlowRecord) - 1) / alignof(FlowRecord) * alignof(FlowRecord)),
      row_bytes_(sizeof(FlowRecord) + asked_ * sizeof(Value) + text_bytes_),
      top_(top),
      visit_(std::move(visit)),
      capacity_(std::max<std::size_t>(kLeastRows, bytes / (row_bytes_ + sizeof(Place)))),
      values_(columns) {
  rows_ = HugeBuffer<std::byte>(capacity_ * row_bytes_, /*huge_pages=*/false);
  places_ = HugeBuffer<Place>(capacity_, /*huge_pages=*/false);
}

SortedRuns::~SortedRuns() {
  if (file_ >= 0) ::close(file_);
}

void SortedRuns::offer(const ReportFlow& flow) {
  if (count_ == capacity_ && (in_pieces_ || !write_run())) hand_on_rows();
  std::byte* const to = row(count_);
  std::memcpy(to, &flow.record, sizeof(FlowRecord));
  if (asked_ != 0)
    std::memcpy(to + sizeof(FlowRecord), flow.values.subspan(order_.of_record()).data(), asked_ * sizeof(Value));
  if (text_bytes_ != 0) keep_texts(asked(to), texts(to));
  places_[count_] = {text_bytes_ == 0 ? comparable(order_.key_of(flow)) : key_of(to),
                     static_cast<std::uint32_t>(count_)};
  ++count_;
}

void SortedRuns::finish() {
  if (run_ends_.empty() || !write_run())
    hand_on_rows();
  else
    merge({rows_.data(), rows_.size()});
}

void SortedRuns::sort() {
  std::sort(places_.data(), places_.data() + count_, [this](const Place& a, const Place& b) {
    if (const auto order = a.key <=> b.key; order != 0) return order > 0;
    const auto order = record_order(record_at(row(a.at)), record_at(row(b.at)));
    return order == 0 ? a.at < b.at : order < 0;
  });
}

/// Writes the rows as a sorted run. Returns false, with the rows still in memory, if there can be no file; the rows
/// written earlier have then been handed on.
bool SortedRuns::write_run() {
  sort();
  std::vector<std::byte> chunk;
  chunk.reserve(kWriteBytes + row_bytes_);
  std::uint64_t end = run_ends_.empty() ? 0 : run_ends_.back();
  if (file_ < 0) file_ = open_unnamed();
  const bool is_full = run_ends_.size() == capacity_;  // a merge needs room for one row of each run
  bool is_written = file_ >= 0 && !is_full;
  for (std::size_t i = 0; is_written && i < count_; ++i) {
    const std::byte* const from = row(places_[i].at);
    chunk.insert(chunk.end(), from, from + row_bytes_);
    if (chunk.size() < kWriteBytes && i + 1 != count_) continue;
    is_written = write_all(file_, chunk);
    end += chunk.size();
    chunk.clear();
  }
  if (is_written) {
    run_ends_.push_back(end);
    count_ = 0;
    return true;
  }
  const int why = errno;
  in_pieces_ = true;
  problem_ = Error{
      file_ >= 0 && is_full
          ? fmt::format(
                "more than {} runs of {} flows cannot be merged: the flows of this report are sorted in pieces; "
                "ask for fewer flows with --top",
                run_ends_.size(), capacity_)
          : fmt::format("no temporary file can be written in {} ({}): the flows of this report are sorted in pieces of "
                        "{} flows; set TMPDIR to a folder with room, or ask for fewer flows with --top",
                        temporary_folder(), std::strerror(why), capacity_)};
  return false;
}

FlowRecord SortedRuns::record_at(const std::byte* row) const noexcept {
  FlowRecord record;
  std::memcpy(&record, row, sizeof record);
  return record;
}

Value SortedRuns::key_of(const std::byte* row) const noexcept {
  const std::span kept(reinterpret_cast<const Value*>(row + sizeof(FlowRecord)), asked_);
  return comparable(order_.key_of(record_at(row), kept));
}

bool SortedRuns::refill(Run& run) {
  run.at = run.filled = 0;
  const std::size_t wanted = std::min<std::uint64_t>(run.block.size(), run.end - run.from);
  while (run.filled < wanted) {
    const ssize_t got =
        ::pread(file_, run.block.data() + run.filled, wanted - run.filled, static_cast<off_t>(run.from));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      problem_ = Error{
          "flows could not be read back from the temporary file they were sorted in: this report lacks them; set "
          "TMPDIR to a sound disk"};
      run.end = run.from;
      run.filled -= run.filled % row_bytes_;
      break;
    }
    run.from += static_cast<std::uint64_t>(got);
    run.filled += static_cast<std::size_t>(got);
  }
  return run.filled != 0;
}

/// Moves to the next row. Returns false if there is none.
bool SortedRuns::next(Run& run) {
  if (run.at == run.filled && !refill(run)) return false;
  std::byte* const row = run.block.data() + run.at;
  if (text_bytes_ != 0) find_texts(asked(row), texts(row));
  run.key = key_of(row);
  run.record = record_at(row);
  return true;
}

/// Merges the runs. Each has an equal part of `memory` for reading.
void SortedRuns::merge(std::span<std::byte> memory) {
  const std::size_t block = memory.size() / row_bytes_ / run_ends_.size() * row_bytes_;
  std::vector<Run> runs;
  std::uint64_t from = 0;
  for (std::size_t i = 0; i < run_ends_.size(); ++i) {
    Run run{.from = from,
            .end = run_ends_[i],
            .block = memory.subspan(i * block, block),
            .key = {},
            .record = {},
            .number = i};
    from = run.end;
    if (next(run)) runs.push_back(run);
  }
  const auto later = [](const Run& a, const Run& b) {
    if (const auto order = a.key <=> b.key; order != 0) return order < 0;
    const auto order = record_order(a.record, b.record);
    return order == 0 ? a.number > b.number : order > 0;
  };
  std::ranges::make_heap(runs, later);
  while (!runs.empty() && (top_ == 0 || handed_on_ < top_)) {
    std::ranges::pop_heap(runs, later);
    Run& run = runs.back();
    hand_on(run.block.data() + run.at);
    run.at += row_bytes_;
    if (next(run))
      std::ranges::push_heap(runs, later);
    else
      runs.pop_back();
  }
}

/// Hands on the rows in memory together with those in the file, if the file cannot be used further. Pieces are
/// complete: the first row of all may be in the last piece.
void SortedRuns::hand_on_rows() {
  if (in_pieces_) top_ = 0;
  if (!run_ends_.empty()) {
    std::vector<std::byte> memory(std::max(kWriteBytes, run_ends_.size() * row_bytes_));
    merge(memory);
    run_ends_.clear();
  }
  sort();
  for (std::size_t i = 0; i < count_ && (top_ == 0 || handed_on_ < top_); ++i) hand_on(row(places_[i].at));
  count_ = 0;
}

void SortedRuns::hand_on(const std::byte* row) {
  const FlowRecord record = record_at(row);
  order_.read_record(record, values_);
  if (asked_ != 0) std::memcpy(&values_[order_.of_record()], row + sizeof record, asked_ * sizeof(Value));
  ++handed_on_;
  visit_({record, values_});
}

}  // namespace parshall
