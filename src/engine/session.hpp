// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/page_commit.hpp"
#include "engine/analyst.hpp"
#include "engine/class_helpers.hpp"
#include "engine/collector.hpp"
#include "engine/flow_merger.hpp"
#include "engine/input.hpp"
#include "engine/interval_bases.hpp"
#include "engine/loss_watch.hpp"
#include "engine/session_options.hpp"
#include "engine/summarizer.hpp"
#include "engine/traffic_pace.hpp"

namespace parshall {

/// Which flows a snapshot hands out. Ended records come once; `live` leaves them to a later report.
enum class SnapshotFlows : std::uint8_t { live_and_ended, live };

/// One run: workers, the collector of ended records, and reports while it goes on and at its end.
class Session {
 public:
  struct Monitors {
    std::vector<std::unique_ptr<FlowStage>> workers;  ///< one each
    PageRanges memory;                                ///< to be committed while packets come
  };

  /// Whether tables begin small and grow up to their capacity, so that only flows that come take memory.
  static bool tables_grow(const SessionOptions& options, const Schema& schema, bool can_wait) noexcept;

  /// The workers' tables and rows. Throws std::bad_alloc. A caller whose source cannot wait makes them before it opens
  /// the source: what comes meanwhile would be lost. Of a source that cannot wait the memory is committed when the
  /// session starts, by a thread beside the workers.
  static Monitors make_monitors(const SessionOptions& options, const Schema& schema, bool can_wait);

  /// `monitors` of make_monitors() for the same options and schema; made here where there are none.
  /// `tasks` are of the window lengths in `options.monitor.windows`.
  Session(Input input, SessionOptions options, Schema schema, Monitors monitors = {}, TaskSets tasks = {});
  ~Session();

  std::optional<Error> start();
  bool finished() const noexcept { return workers_->finished(); }
  void stop() noexcept { workers_->stop(); }

  /// Whether the workers wait between two intervals of packet time (ReadLimits::pause_every_ns): a snapshot() has all
  /// packets before, and none after.
  bool paused() const noexcept { return workers_->paused(); }
  void go_on() noexcept { workers_->go_on(); }

  /// A report from a consistent state while the workers go on; nothing when they ended meanwhile.
  std::optional<Report> snapshot();

  /// The same in two steps, for a caller with more to do: asks for it; then takes it when it is there.
  void begin_snapshot();
  std::optional<Report> poll_snapshot(SnapshotFlows flows);

  /// The last snapshot's report was written: its ended records may be forgotten.
  void confirm_written() { collector_->confirm_written(); }

  /// Once the source is at its end, or stop() was called: waits for what the workers still have to do, and for outputs
  /// that the source can wait for to take what is left. False: not in that time.
  bool ended_within(std::chrono::milliseconds most);

  /// Returns how long the thread that minds this may sleep: `busy`, or longer while nothing comes (TrafficPace).
  std::chrono::microseconds nap(std::chrono::microseconds busy) noexcept { return pace_->nap(busy); }

  /// Waits for that, however long it takes, then reports everything that is left.
  Report final_report();

  /// Other columns from the next report on. Statistics kept so far are dropped.
  void change_columns(Schema schema);

  /// What the tasks found since the last call.
  std::vector<Event> take_events();

  /// And how much of it they found, window by window, since the last call, where flows give way and the plan's board
  /// keeps that; how many windows of tasks nobody took in time.
  std::vector<WindowRecall> take_recalls();
  std::uint64_t recalls_not_taken() const;

  /// Whether all threads that receive from a device have asked it for packets since this was called before. Those of a
  /// source that waits may be waiting themselves.
  bool workers_go_on();

  /// The worst of what packets come from. Any thread.
  InputState input_state() const;
  /// Returns the interfaces that packets come from, where there are several.
  std::vector<InterfacePackets> interfaces() const;

  /// Cheap, at any time: packets polled so far, by all lanes.
  std::uint64_t packets_polled() const noexcept;

  /// Any thread, at any time, cheap, without a snapshot: what has been counted up to now, by all workers, but for what
  /// takes a walk over the tables (CountedBy::walk). Each counter is as of some moment of the last batches, and none
  /// goes back but live_flows and live_flow_packets; sums of several hold exactly once the run has finished.
  Counters counters() const;

  /// Keeps the record of an ended flow, of whoever took it and could not write it, for the next report. Any thread.
  void keep_ended(std::span<const std::byte> record) { collector_->keep(record); }

  /// Of ended flows, in no report for want of room. Any thread.
  std::uint64_t records_dropped() const noexcept { return collector_->records_dropped(); }

  std::optional<Error> damage() const;

  /// Packets of link types that the filter does not apply to: which, why, and how many. Once it has finished.
  std::vector<Error> left_out_by_filter() const;

  /// Mapped at most, by all workers: tables, rows and rings; and by records that wait for a report.
  static std::uint64_t memory_bytes(const SessionOptions& options, const Schema& schema);

 private:
  using Clock = std::chrono::steady_clock;
  struct Chosen {
    Schema schema;
    std::uint64_t generation;
  };

  void keep_events();
  bool snapshot_ready() const noexcept;
  void visit_snapshots(std::uint64_t number, SnapshotFlows flows, const std::function<void(const ReportFlow&)>& visit);
  void visit_final(const std::function<void(const ReportFlow&)>& visit);
  void visit_live(const std::function<void(const ReportFlow&)>& visit);
  void visit_ended(std::uint64_t number, const Chosen& chosen, const std::function<void(const ReportFlow&)>& visit);
  void visit_flow(const FlowRecord& record, std::span<const std::byte> row, std::uint64_t generation,
                  const Chosen& chosen, const std::function<void(const ReportFlow&)>& visit);
  const RecallBoard* recalls() const noexcept;
  ReportSummary summarize(std::span<const MonitorCounts> counts, bool final);
  bool may_overlap() const noexcept;
  std::uint64_t most_live() const noexcept;  ///< flows, of all workers, by their slots
  static std::uint64_t most_reported(const SessionOptions& options) noexcept;  ///< in a report, of all workers

  Input input_;
  SessionOptions options_;
  std::shared_ptr<const Chosen> chosen_;
  std::uint64_t memory_bytes_;
  std::vector<std::uint64_t> last_ticks_;  ///< by lane, of workers_go_on()
  std::unique_ptr<Workers> workers_;
  std::unique_ptr<LossWatch> loss_watch_;
  PageRanges memory_;  ///< to be committed
  CommitThread commit_;
  std::optional<TrafficPace> pace_;  ///< of the thread that minds this
  std::unique_ptr<ClassHelpers> classifiers_;
  std::optional<IntervalBases> bases_;  ///< where a column goes by the report before
  std::optional<FlowMerger> merger_;    ///< where workers may have parts of a flow
  std::vector<Value> values_;           ///< of the flow that is being visited

  EventQueue events_;
  std::vector<Event> last_events_;  ///< kept for the next take_events()
  std::optional<Collector> collector_;
  std::optional<Analyst> analyst_;
  std::optional<Summarizer> summarizer_;
  std::thread analysis_;
  std::atomic<bool> analysing_{true}, analysed_{false};
};

}  // namespace parshall
