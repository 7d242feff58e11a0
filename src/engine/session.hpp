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

/// Flows that a snapshot hands out. Ended records come once; `live` leaves them to a later report.
enum class SnapshotFlows : std::uint8_t { live_and_ended, live };

/// Runs the workers, collects ended records, and makes reports during the run and at its end.
class Session {
 public:
  struct Stages {
    std::vector<std::unique_ptr<FlowStage>> workers;  ///< one for each worker
    PageRanges memory;                                ///< memory to commit while packets come
  };

  /// Returns true if tables start small and grow to their capacity, so that memory is taken only by flows that come.
  static bool tables_grow(const SessionOptions& options, const Schema& schema, bool can_wait) noexcept;

  /// Makes the workers' tables and rows. If the source cannot wait, make them before opening it, since packets in the
  /// meantime would be lost. Their memory is then committed when the session starts, by a thread beside the workers.
  /// Throws std::bad_alloc.
  static Stages make_stages(const SessionOptions& options, const Schema& schema, bool can_wait);

  /// `stages` come from make_stages() for the same options and schema, and are made here if empty. `tasks` have the
  /// window lengths in `options.stage.windows`.
  Session(Input input, SessionOptions options, Schema schema, Stages stages = {}, TaskSets tasks = {});
  ~Session();

  std::optional<Error> start();
  bool finished() const noexcept { return workers_->finished(); }
  void stop() noexcept { workers_->stop(); }

  /// Returns true if the workers wait between two intervals of packet time (ReadLimits::pause_every_ns). A snapshot()
  /// then has exactly the packets before.
  bool paused() const noexcept { return workers_->paused(); }
  void go_on() noexcept { workers_->go_on(); }

  /// Makes a report from a consistent state while the workers go on; nullopt if they ended in the meantime.
  std::optional<Report> snapshot();

  /// Does the same in two steps, for a caller with other work: requests the snapshot, then takes it when it is ready.
  void begin_snapshot();
  std::optional<Report> poll_snapshot(SnapshotFlows flows);

  /// Confirms that the last snapshot's report was written, so that its ended records can be freed.
  void confirm_written() { collector_->confirm_written(); }

  /// Waits, after the source has ended or stop() was called, for the workers to finish their work. Also waits for
  /// outputs that the source can wait for. Returns false if that took longer than `most`.
  bool ended_within(std::chrono::milliseconds most);

  /// Returns how long the controlling thread may sleep: `busy`, or longer while nothing comes (TrafficPace).
  std::chrono::microseconds nap(std::chrono::microseconds busy) noexcept { return pace_->nap(busy); }

  /// Waits for the end, however long it takes, then reports everything that is left.
  Report final_report();

  /// Changes the columns from the next report on. Statistics so far are dropped.
  void change_columns(Schema schema);

  /// Returns the task events since the last call.
  std::vector<Event> take_events();

  /// Returns the recall per window since the last call, if flows are reduced and the plan's board keeps it.
  /// recalls_not_taken() counts those dropped because they were not taken in time.
  std::vector<WindowRecall> take_recalls();
  std::uint64_t recalls_not_taken() const;

  /// Returns true if all threads that receive from a device have polled it since the previous call. Threads of a source
  /// that waits may be waiting themselves.
  bool workers_go_on();

  /// Returns the worst state of the run's inputs. Any thread.
  InputState input_state() const;
  /// Returns the interfaces that packets come from, where there are several.
  std::vector<InterfacePackets> interfaces() const {
    return input_.interfaces ? input_.interfaces() : std::vector<InterfacePackets>();
  }

  /// Returns the packets polled so far by all lanes. Cheap, at any time.
  std::uint64_t packets_polled() const noexcept;

  /// Returns the counts of all workers so far without a snapshot, except those that need a walk over the tables
  /// (CountedBy::walk). Cheap, from any thread. Each counter is from the last batches, and none decreases but
  /// live_flows and live_flow_packets. Sums of several counters are exact only once the run has finished.
  Counters counters() const;

  /// Keeps a record that an output took but could not write, for the next report. Any thread.
  void keep_ended(std::span<const std::byte> record) { collector_->keep(record); }

  /// Returns the ended flows that are in no report for want of room. Any thread.
  std::uint64_t records_dropped() const noexcept { return collector_->records_dropped(); }

  std::optional<Error> damage() const;

  /// Returns the link types that the filter does not apply to, with the reason and the packet count. Call it once
  /// finished.
  std::vector<Error> left_out_by_filter() const;

  /// Returns the most memory mapped by all workers for tables, rows and rings, and by records waiting for a report.
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
  ReportSummary summarize(std::span<const StageCounts> counts, bool final);
  bool may_overlap() const noexcept;
  std::uint64_t most_live() const noexcept;                                    ///< flows of all workers, by their slots
  static std::uint64_t most_reported(const SessionOptions& options) noexcept;  ///< flows in a report, of all workers

  Input input_;
  SessionOptions options_;
  std::shared_ptr<const Chosen> chosen_;
  std::uint64_t memory_bytes_;
  std::vector<std::uint64_t> last_ticks_;  ///< by lane, for workers_go_on()
  std::unique_ptr<Workers> workers_;
  std::unique_ptr<LossWatch> loss_watch_;
  PageRanges memory_;  ///< to be committed
  CommitThread commit_;
  std::optional<TrafficPace> pace_;  ///< for the controlling thread
  std::unique_ptr<ClassHelpers> classifiers_;
  std::optional<IntervalBases> bases_;  ///< set if a column needs the previous report
  std::optional<FlowMerger> merger_;    ///< set if workers may hold parts of one flow
  std::vector<Value> values_;           ///< values of the flow being visited

  EventQueue events_;
  std::vector<Event> last_events_;  ///< kept for the next take_events()
  std::optional<Collector> collector_;
  std::optional<Analyst> analyst_;
  std::optional<Summarizer> summarizer_;
  std::thread analysis_;
  std::atomic<bool> analysing_{true}, analysed_{false};
};

}  // namespace parshall
