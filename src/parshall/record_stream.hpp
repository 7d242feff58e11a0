// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/result.hpp"
#include "parshall/monitor.hpp"
#include "pipeline/output/arrow/c_data.hpp"

namespace parshall {

/// Owns a batch of records as Arrow arrays.
class ArrowBatch {
 public:
  ArrowBatch(std::vector<ArrowBuffers> buffers) : buffers_(std::move(buffers)) {}

  std::int64_t rows() const noexcept { return buffers_.empty() ? 0 : buffers_.front().rows; }
  const ArrowBuffers& column(std::size_t i) const noexcept { return buffers_[i]; }
  /// Gives up ownership of the buffers.
  std::vector<ArrowBuffers> take() noexcept { return std::move(buffers_); }

 private:
  std::vector<ArrowBuffers> buffers_;
};

/// Runs a plan and lets one reader take its records, or its task events, batch by batch. Memory is bounded: a source
/// that can wait does so until the reader has taken what is ready.
class RecordStream {
 public:
  enum class Takes : std::uint8_t { records, events };
  static constexpr std::int64_t kRows = 65536;   ///< most rows of a batch; fewer where the reader would wait
  static constexpr std::size_t kWaiting = 4;     ///< most batches that wait for the reader
  static constexpr std::size_t kEvents = 65536;  ///< most events that wait for the reader

  /// Starts the run. Errors are those of Monitor::start().
  static Result<std::unique_ptr<RecordStream>> start(const Plan& plan, Takes takes = Takes::records,
                                                     PlanTexts texts = {});

  ~RecordStream() { leave(); }
  RecordStream(const RecordStream&) = delete;
  RecordStream& operator=(const RecordStream&) = delete;

  std::span<const ColumnInfo> columns() const noexcept { return columns_; }

  /// Returns the next batch: once it is full, or after `most` with the rows so far. Returns nullopt if there are none,
  /// and at the end.
  std::optional<ArrowBatch> next(std::chrono::milliseconds most);
  /// Returns the task events since the last call, each a JSON object, as soon as there is one. Returns none after
  /// `most`, and at the end.
  std::vector<std::string> next_events(std::chrono::milliseconds most);
  bool ended() const;  ///< true once nothing more will come

  Counters counters() const { return monitor_->counters(); }  ///< may be called from any thread

  std::optional<double> share_read() const noexcept { return monitor_->share_read(); }  ///< likewise

  /// Ends the run now; records that were not taken are lost. Returns once its threads have ended. May be called from
  /// any number of threads.
  void leave() noexcept;

  /// Returns the result once the run has ended, before that null.
  const RunSummary* summary() const;
  const std::string* failure() const;  ///< why the run failed, or null

 private:
  RecordStream() = default;

  void add(const RecordBatch& batch);
  void add_event(std::string_view json);
  void hand_over();
  ArrowBatch take_gathered();
  std::optional<ArrowBatch> take_waiting(std::unique_lock<std::mutex> lock);
  void run();

  std::vector<ColumnInfo> columns_;

  std::mutex gathers_;  ///< lock before mutex_
  std::vector<ArrowColumn> gathered_;
  std::int64_t rows_ = 0;  ///< rows in gathered_

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<ArrowBatch> waiting_;
  std::vector<std::string> events_;
  std::optional<RunSummary> summary_;
  std::optional<std::string> failure_;
  bool has_ended_ = false, is_left_ = false;  ///< is_left_: the reader takes nothing any more

  std::optional<Monitor> monitor_;
  std::mutex joins_;
  std::thread runs_;
};

}  // namespace parshall
