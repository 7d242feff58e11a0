// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "pipeline/output/alarms/alarm_book.hpp"
#include "pipeline/output/groups/group_schema.hpp"
#include "pipeline/output/queue/export_queue.hpp"

namespace parshall {

/// All outputs of a run while it goes on. Each has its own queue, so that none waits for another unless the source can
/// wait. Outputs may be added and removed at any time.
class Outputs {
 public:
  using Queues = std::vector<std::shared_ptr<ExportQueue>>;

  explicit Outputs(Schema schema) : schema_(std::move(schema)) {}

  // For one thread, of which the others know nothing:

  /// Lets outputs that are added later have groups in place of records. `groups` must outlive them; each output keeps
  /// at most `most` groups.
  void group_by(const GroupSchema& groups, std::uint64_t most, std::uint64_t seed) noexcept {
    grouping_ = {&groups, most, seed};
  }

  /// Adds an output for everything handed over from then on, until it is removed.
  ExportQueue& add(std::unique_ptr<Exporter> exporter, ExportOptions options);

  /// Notes that the run has started: old files are emptied.
  void note_run_began();

  /// Removes an output: nothing more is handed to it. When it has written its data, it gets its account, with the run's
  /// `counters`, and is destroyed. Data not written after `most` is dropped. Its result stays in summaries(). Only
  /// while the run goes on, since the thread that hands over has to call come_round().
  OutputSummary remove(const ExportQueue& queue, const Counters& counters, std::chrono::milliseconds most);

  /// Adds an exporter that never waits and does little. The thread that hands over calls it directly. Call this before
  /// anything is handed over; the exporter must outlive that thread.
  void add_direct(Exporter& exporter) { direct_.push_back(&exporter); }

  /// Makes alarms of findings from now on. `by_clock`: whether packets come from a link.
  void keep_alarms(const TaskSets& tasks, bool by_clock) { alarms_ = std::make_unique<AlarmBook>(tasks, by_clock); }

  /// Adds memory that a report takes while it is written.
  void count_memory(std::uint64_t bytes) noexcept { other_bytes_ += bytes; }

  // For another thread, while the run goes on. It begins each round of handing over with come_round():

  void come_round();
  bool take_records() const noexcept;
  /// Returns whether one output is the report (kReportOutput). Otherwise the maker of reports also needs ended records.
  bool have_report() const noexcept;

  /// Hands over a record: a header and the flow's row. Returns `taken` if at least one output took it and none gave it
  /// back.
  ExportQueue::Put put(std::span<const std::byte> record);
  void put(const Event& event);
  void put(const WindowRecall& told) { put_finding(told); }

  // For the first thread, once nothing more comes:

  /// Waits for the outputs, at most for `most`. Returns those that have not written everything.
  std::vector<const ExportQueue*> unfinished_after(std::chrono::milliseconds most);

  /// Writes the flows that have not ended, and the account of everything, to all outputs that take records.
  void write_last(const Report& report);

  // For any thread:

  /// Ends all waiting for room; what is left is not written.
  void abandon() noexcept;

  std::shared_ptr<const Queues> queues() const;
  /// Returns the alarms of the run, or null without tasks.
  const AlarmBook* alarms() const noexcept { return alarms_.get(); }
  std::uint64_t memory_bytes() const;
  /// Returns the summaries. Removed outputs come last, the latest 31 of them separately.
  std::vector<OutputSummary> summaries() const;

 private:
  template <class Finding>
  void put_finding(const Finding& finding);
  void put_alarm(const Alarm& alarm);
  void end_alarms(std::uint64_t last_ns);
  void publish(Queues queues);
  void keep_account(const OutputSummary& account);

  struct GroupedBy {
    const GroupSchema* groups = nullptr;  ///< null: outputs have records
    std::uint64_t most = 0, seed = 0;
  };

  Schema schema_;
  GroupedBy grouping_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Queues> queues_ = std::make_shared<Queues>();  ///< guarded by the mutex
  std::vector<OutputSummary> removed_;                                 ///< guarded by the mutex
  std::atomic<bool> begun_{false};
  std::atomic<std::uint64_t> version_{0}, round_of_{0};  ///< version of queues_, and of the queues in use

  std::shared_ptr<const Queues> handed_to_ = queues_;  ///< used by the thread that hands over
  std::vector<Exporter*> direct_;
  std::unique_ptr<AlarmBook> alarms_;
  std::uint64_t other_bytes_ = 0;
};

}  // namespace parshall
