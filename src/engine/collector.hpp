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
#include "pipeline/output/record_spool.hpp"

namespace parshall {

/// Takes what leaves the workers while a run goes on, by a thread of its own: it goes to the outputs, where there are
/// some for it; else records wait for a report.
class Collector {
 public:
  struct Options {
    Outputs* outputs = nullptr;                     ///< null: nothing leaves before a report
    bool keeps_ended = true;                        ///< for a report; else they are counted, and gone
    std::uint64_t ended_bytes = ~std::uint64_t{0};  ///< that these may take
    const RecallBoard* recalls = nullptr;           ///< null: nobody asked for each window's
  };
  using VisitRecord = std::function<void(const RecordView&)>;

  Collector(const Workers& workers, EventQueue& events, const Options& options);
  ~Collector() { finish(); }

  /// `meanwhile` is called each time before it looks.
  void start(std::function<void()> meanwhile);

  /// Everything that has ended so far is where it belongs, once it returns.
  void collect_now();

  /// No more comes. Then everything was collected once is_done(); finish() waits for that.
  void end() noexcept { collecting_.store(false, std::memory_order_release); }
  bool is_done() const noexcept { return collected_all_.load(std::memory_order_acquire) || !thread_.joinable(); }
  void finish();

  /// Keeps the record of an ended flow, of whoever took it and could not write it. Any thread.
  void keep(std::span<const std::byte> record);

  /// Any thread.
  Counters counters() const noexcept { return collected_now_.read(); }
  std::uint64_t records_dropped() const noexcept { return collected_now_.read(Counter::dropped_records); }
  bool unreadable() const noexcept { return spool_.unreadable(); }

  /// Records for the report of that number, which come once, unless nobody confirms that it was written.
  void visit_for(std::uint64_t report, const VisitRecord& visit);
  void confirm_written() { unconfirmed_.clear(); }

  /// All that no report confirmed. Once it has finished.
  void visit_all(const VisitRecord& visit);

 private:
  /// Returns whether flows had ended.
  bool collect();
  bool collect_ended();
  void collect_findings();

  const Workers& workers_;
  EventQueue& events_;
  Options options_;
  RecordSpool spool_;
  Counters collected_;  ///< records dropped for want of room
  PublishedCounters<CountedBy::collector> collected_now_;
  /// Records that a report of that number handed out, and nobody has confirmed to be written; later ones with them.
  std::vector<std::pair<std::uint64_t, RecordSpool::Taken>> unconfirmed_;
  std::atomic<std::uint64_t> refused_records_{0}, refused_packets_{0};  ///< by the spool, of keep()
  std::atomic<bool> collecting_{true}, collect_now_{false}, collected_all_{false};
  std::function<void()> meanwhile_;
  std::thread thread_;
};

}  // namespace parshall
