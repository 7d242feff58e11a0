// SPDX-License-Identifier: Apache-2.0
#include "parshall/record_stream.hpp"

#include <utility>

#include "pipeline/output/columnar.hpp"

namespace parshall {

Result<std::unique_ptr<RecordStream>> RecordStream::start(const Plan& plan, Takes takes, PlanTexts texts) {
  std::unique_ptr<RecordStream> stream(new RecordStream);
  Subscriber reader{.name = "stream"};
  if (takes == Takes::records)
    reader.records = [stream = stream.get()](const RecordBatch& batch) { stream->add(batch); };
  else
    reader.events = [stream = stream.get()](std::string_view json) { stream->add_event(json); };
  auto monitor = Monitor::start(plan, {std::move(reader)}, std::move(texts));
  if (!monitor) return monitor.error();
  stream->columns_ = columnar(monitor->columns());
  stream->monitor_.emplace(*std::move(monitor));
  stream->runs_ = std::thread([stream = stream.get()] { stream->run(); });
  return stream;
}

void RecordStream::leave() noexcept {
  {
    const std::lock_guard lock(mutex_);
    is_left_ = true;
    waiting_.clear();
    events_.clear();
  }
  changed_.notify_all();
  if (monitor_) monitor_->stop();
  const std::lock_guard lock(joins_);
  if (runs_.joinable()) runs_.join();
}

/// Waits for the end of the run in a separate thread: finish() hands over the live flows, and the reader has to make
/// room for them at the same time.
void RecordStream::run() {
  std::optional<RunSummary> summary;
  std::optional<std::string> failure;
  try {
    summary = monitor_->finish();
    const std::lock_guard lock(gathers_);
    if (rows_ != 0) hand_over();
  } catch (const std::exception& problem) {
    failure = problem.what();
  }
  {
    const std::lock_guard lock(mutex_);
    summary_ = std::move(summary);
    failure_ = std::move(failure);
    has_ended_ = true;
  }
  changed_.notify_all();
}

void RecordStream::add(const RecordBatch& batch) {
  const std::lock_guard lock(gathers_);
  if (gathered_.empty())
    for (const ColumnInfo& column : batch.columns()) gathered_.emplace_back(column);
  constexpr std::size_t kAtMost = kRows;
  for (std::size_t at = 0, rows; at < batch.rows(); at += rows) {
    rows = std::min(batch.rows() - at, kAtMost - static_cast<std::size_t>(rows_));
    for (std::size_t i = 0; i < gathered_.size(); ++i) gathered_[i].add(batch.rows(at, rows), gathered_.size(), i);
    rows_ += static_cast<std::int64_t>(rows);
    if (rows_ == kRows) hand_over();
  }
}

ArrowBatch RecordStream::take_gathered() {
  std::vector<ArrowBuffers> buffers;
  for (ArrowColumn& column : gathered_) buffers.push_back(column.take());
  rows_ = 0;
  return ArrowBatch(std::move(buffers));
}

void RecordStream::hand_over() {
  ArrowBatch batch = take_gathered();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return is_left_ || waiting_.size() < kWaiting; });
  if (is_left_) return;
  waiting_.push_back(std::move(batch));
  lock.unlock();
  changed_.notify_all();
}

std::optional<ArrowBatch> RecordStream::take_waiting(std::unique_lock<std::mutex> lock) {
  if (waiting_.empty()) return std::nullopt;
  ArrowBatch batch = std::move(waiting_.front());
  waiting_.pop_front();
  lock.unlock();
  changed_.notify_all();
  return batch;
}

std::optional<ArrowBatch> RecordStream::next(std::chrono::milliseconds most) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, most, [this] { return has_ended_ || !waiting_.empty(); });
    if (has_ended_ || !waiting_.empty()) return take_waiting(std::move(lock));
  }
  // The thread that gathers may be waiting for room in waiting_; then a batch is ready.
  const std::unique_lock gathers(gathers_, std::try_to_lock);
  if (!gathers) return std::nullopt;
  if (auto batch = take_waiting(std::unique_lock(mutex_))) return batch;
  if (rows_ == 0) return std::nullopt;
  return take_gathered();
}

void RecordStream::add_event(std::string_view json) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return is_left_ || events_.size() < kEvents; });
  if (is_left_) return;
  events_.emplace_back(json);
  lock.unlock();
  changed_.notify_all();
}

std::vector<std::string> RecordStream::next_events(std::chrono::milliseconds most) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, most, [this] { return has_ended_ || !events_.empty(); });
  std::vector<std::string> events = std::exchange(events_, {});
  lock.unlock();
  changed_.notify_all();
  return events;
}

bool RecordStream::ended() const {
  const std::lock_guard lock(mutex_);
  return has_ended_ && waiting_.empty() && events_.empty();
}

const RunSummary* RecordStream::summary() const {
  const std::lock_guard lock(mutex_);
  return summary_ ? &*summary_ : nullptr;
}

const std::string* RecordStream::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_ ? &*failure_ : nullptr;
}

}  // namespace parshall
