// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "pipeline/output/export_queue.hpp"

namespace parshall {

/// All that what leaves a run goes to, while it goes on: each behind a queue of its own, so that none has to wait for
/// another, unless the source can wait. They may come and go meanwhile.
class Outputs {
 public:
  using Queues = std::vector<std::shared_ptr<ExportQueue>>;

  explicit Outputs(Schema schema) : schema_(std::move(schema)) {}

  // One thread, which the others know nothing of:

  /// What is handed over from then on. It stays until it is removed.
  ExportQueue& add(std::unique_ptr<Exporter> exporter, ExportOptions options);

  /// The run goes on: files that earlier ones left are begun anew.
  void note_run_began();

  /// Nothing is handed to it any more. Once it has written what it was, it gets its account, by what `counters` says of
  /// the run then, and is gone; what it has not written after `most` is dropped. What became of it stays in
  /// summaries(). While the run goes on: the thread that hands over has to come round.
  OutputSummary remove(const ExportQueue& queue, const Counters& counters, std::chrono::milliseconds most);

  /// One that neither waits nor does much: it is called at once, by the thread that hands over, which it outlives.
  /// Before anything is handed over.
  void add_direct(InnerExporter& exporter) { direct_.push_back(&exporter); }

  /// Counts what else a report takes while it is written.
  void count_memory(std::uint64_t bytes) noexcept { other_bytes_ += bytes; }

  // Another one, while the run goes on, which begins each round of handing over with come_round():

  void come_round();
  bool take_records() const noexcept;
  /// Whether one is the report (kReportOutput): who makes one otherwise needs records that ended, too.
  bool have_report() const noexcept;

  /// A header and the flow's row. Taken: by one at least, and none gave it back.
  ExportQueue::Put put(std::span<const std::byte> record);
  void put(const Event& event) { put_finding(event); }
  void put(const WindowRecall& told) { put_finding(told); }

  // The first, once nothing more comes:

  /// Those that have not written yet what they were handed; none once all have.
  std::vector<const ExportQueue*> unfinished_after(std::chrono::milliseconds most);

  /// What has not ended, and the account of everything, to all that take records.
  void write_last(const Report& report);

  // Any thread:

  /// From now on nobody waits for room, and what is left is not written.
  void abandon() noexcept;

  std::shared_ptr<const Queues> queues() const;
  std::uint64_t memory_bytes() const;
  /// Those that were removed come last, the latest 31 of them each for itself.
  std::vector<OutputSummary> summaries() const;

 private:
  template <class Finding>
  void put_finding(const Finding& finding);
  void publish(Queues queues);
  void keep_account(const OutputSummary& account);

  Schema schema_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Queues> queues_ = std::make_shared<Queues>();  ///< with the mutex
  std::vector<OutputSummary> removed_;                                 ///< with the mutex
  std::atomic<bool> begun_{false};
  std::atomic<std::uint64_t> version_{0}, round_of_{0};  ///< of queues_, and of those that are handed to

  std::shared_ptr<const Queues> handed_to_ = queues_;  ///< of the thread that hands over
  std::vector<InnerExporter*> direct_;
  std::uint64_t other_bytes_ = 0;
};

}  // namespace parshall
