// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "pipeline/output/export_queue.hpp"

namespace parshall {

/// All that what leaves a run goes to, while it goes on: each behind a queue of its own, so that none has to wait for
/// another, unless the source can wait.
class Outputs {
 public:
  explicit Outputs(Schema schema) : schema_(std::move(schema)) {}

  /// Before anything is handed over. What is returned stays.
  ExportQueue& add(std::unique_ptr<Exporter> exporter, ExportOptions options);

  /// One that neither waits nor does much: it is called at once, by the thread that hands over, which it outlives.
  void add_direct(InnerExporter& exporter) { direct_.push_back(&exporter); }

  /// Counts what else a report takes while it is written.
  void count_memory(std::uint64_t bytes) noexcept { other_bytes_ += bytes; }

  bool take_records() const noexcept;
  /// Whether one is the report (kReportOutput): who makes one otherwise needs records that ended, too.
  bool have_report() const noexcept;
  std::uint64_t memory_bytes() const noexcept;

  // One thread, while the run goes on:

  /// A header and the flow's row. Taken: by one at least, and none gave it back.
  ExportQueue::Put put(std::span<const std::byte> record);
  void put(const Event& event) { put_finding(event); }
  void put(const WindowRecall& told) { put_finding(told); }

  // Another, once nothing more comes:

  /// Those that have not written yet what they were handed; none once all have.
  std::vector<const ExportQueue*> unfinished_after(std::chrono::milliseconds most);

  /// What has not ended, and the account of everything, to all that take records.
  void write_last(const Report& report);

  // Any thread:

  /// From now on nobody waits for room, and what is left is not written.
  void abandon() noexcept {
    for (const auto& queue : queues_) queue->abandon();
  }

  std::span<const std::unique_ptr<ExportQueue>> queues() const noexcept { return queues_; }
  std::vector<OutputSummary> summaries() const;

 private:
  template <class Finding>
  void put_finding(const Finding& finding);

  Schema schema_;
  std::vector<std::unique_ptr<ExportQueue>> queues_;
  std::vector<InnerExporter*> direct_;
  std::uint64_t other_bytes_ = 0;
};

}  // namespace parshall
