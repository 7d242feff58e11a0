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

/// A batch of records as Arrow's arrays, which goes along with them.
class ArrowBatch {
 public:
  ArrowBatch(std::vector<ArrowBuffers> buffers) : buffers_(std::move(buffers)) {}

  std::int64_t rows() const noexcept { return buffers_.empty() ? 0 : buffers_.front().rows; }
  const ArrowBuffers& column(std::size_t i) const noexcept { return buffers_[i]; }
  /// Gives the buffers away.
  std::vector<ArrowBuffers> take() noexcept { return std::move(buffers_); }

 private:
  std::vector<ArrowBuffers> buffers_;
};

/// A run whose records, or what its tasks find, are taken batch by batch, by one reader who asks for them: in bounded
/// memory, as a source that can wait does until he has what is there.
class RecordStream {
 public:
  enum class Takes : std::uint8_t { records, events };
  static constexpr std::int64_t kRows = 65536;   ///< of a batch at most; fewer where the reader would wait
  static constexpr std::size_t kWaiting = 4;     ///< batches
  static constexpr std::size_t kEvents = 65536;  ///< that wait

  /// Errors as Monitor::start() has them.
  static Result<std::unique_ptr<RecordStream>> start(const Plan& plan, Takes takes = Takes::records);

  ~RecordStream() { leave(); }
  RecordStream(const RecordStream&) = delete;
  RecordStream& operator=(const RecordStream&) = delete;

  std::span<const ColumnInfo> columns() const noexcept { return columns_; }

  /// The next batch, once it is full, or after that time with what is there; nothing where nothing is, and at the end.
  std::optional<ArrowBatch> next(std::chrono::milliseconds most);
  /// What tasks found since, a JSON object each: once there is any, and none after that time, and at the end.
  std::vector<std::string> next_events(std::chrono::milliseconds most);
  bool ended() const;  ///< there will be nothing any more

  Counters counters() const { return monitor_->counters(); }  ///< so far, any thread

  std::optional<double> share_read() const noexcept { return monitor_->share_read(); }  ///< likewise

  /// Ends the run now; what was not taken is lost. Returns once its threads have ended. Any thread, any number of them.
  void leave() noexcept;

  /// What it came to, once it has ended; else nothing.
  const RunSummary* summary() const;
  const std::string* failure() const;  ///< why it ended before its end, where it did

 private:
  RecordStream() = default;

  void add(const RecordBatch& batch);
  void add_event(std::string_view json);
  void hand_over();
  ArrowBatch take_gathered();
  std::optional<ArrowBatch> take_waiting(std::unique_lock<std::mutex> lock);
  void run();

  std::vector<ColumnInfo> columns_;

  std::mutex gathers_;  ///< taken before mutex_
  std::vector<ArrowColumn> gathered_;
  std::int64_t rows_ = 0;  ///< there

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<ArrowBatch> waiting_;
  std::vector<std::string> events_;
  std::optional<RunSummary> summary_;
  std::optional<std::string> failure_;
  bool has_ended_ = false, is_left_ = false;  ///< left: nobody takes anything any more

  std::optional<Monitor> monitor_;
  std::mutex joins_;
  std::thread runs_;
};

}  // namespace parshall
