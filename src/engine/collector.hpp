// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "base/published_counters.hpp"
#include "engine/event_queue.hpp"
#include "engine/recall_board.hpp"
#include "engine/worker.hpp"
#include "pipeline/output/outputs.hpp"
#include "pipeline/output/queue/record_spool.hpp"

namespace parshall {

/// Takes records and findings from the workers while a run goes on, in a thread of its own. They go to the outputs that
/// take them; other records wait for a report.
class Collector {
 public:
  struct Options {
    Outputs* outputs = nullptr;                     ///< null: records stay until a report
    bool keeps_ended = true;                        ///< true: kept for a report; false: only counted
    std::uint64_t ended_bytes = ~std::uint64_t{0};  ///< limit for records kept
    const RecallBoard* recalls = nullptr;           ///< null: recall per window was not asked for
  };
  using VisitRecord = std::function<void(const RecordView&)>;

  Collector(const Workers& workers, EventQueue& events, const Options& options);
  ~Collector() { finish(); }

  /// Starts the thread; `meanwhile` is called before each look at the workers.
  void start(std::function<void()> meanwhile);

  /// Returns once everything that has ended so far is at its destination.
  void collect_now();

  /// Announces that nothing more comes. Everything is collected once is_done(); finish() waits for that.
  void end() noexcept { collecting_.store(false, std::memory_order_release); }
  bool is_done() const noexcept { return collected_all_.load(std::memory_order_acquire) || !thread_.joinable(); }
  void finish();

  /// Keeps a record that an output took but could not write. Any thread.
  void keep(std::span<const std::byte> record);

  /// These may be called from any thread:
  Counters counters() const noexcept { return collected_now_.read(); }
  std::uint64_t records_dropped() const noexcept { return collected_now_.read(Counter::dropped_records); }
  bool unreadable() const noexcept { return spool_.unreadable(); }

  /// Visits the records for the report of that number. Each comes once, unless its report is never confirmed as
  /// written.
  void visit_for(std::uint64_t report, const VisitRecord& visit);
  void confirm_written() { unconfirmed_.clear(); }

  /// Visits all records that no report confirmed; call it once the collector has finished.
  void visit_all(const VisitRecord& visit);

 private:
  /// Collects everything; returns true if flows had ended.
  bool collect();
  bool collect_ended();
  void collect_findings();

  const Workers& workers_;
  EventQueue& events_;
  Options options_;
  RecordSpool spool_;
  Counters collected_;  ///< records dropped for want of room
  PublishedCounters<CountedBy::collector> collected_now_;
  /// Records handed out for the report of that number and not confirmed yet, and later ones.
  std::vector<std::pair<std::uint64_t, RecordSpool::Taken>> unconfirmed_;
  std::atomic<std::uint64_t> refused_records_{0}, refused_packets_{0};  ///< refused by the spool in keep()
  std::atomic<bool> collecting_{true}, collect_now_{false}, collected_all_{false};
  std::function<void()> meanwhile_;
  std::thread thread_;
};

}  // namespace parshall
