// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/page_commit.hpp"
#include "base/published_counters.hpp"
#include "engine/analyst.hpp"
#include "engine/class_helpers.hpp"
#include "engine/flow_merger.hpp"
#include "engine/interval_bases.hpp"
#include "engine/loss_watch.hpp"
#include "engine/tables.hpp"
#include "engine/worker.hpp"
#include "pipeline/output/outputs.hpp"
#include "pipeline/output/record_spool.hpp"
#include "pipeline/output/report.hpp"

namespace parshall {

/// Packets for a session, one source per lane.
struct Input {
  std::string description;
  std::vector<std::unique_ptr<PacketSource>> sources;
  bool every_source_sees_all = false;  ///< so each worker takes its share by hash; else the device spreads flows
  std::shared_ptr<void> owner;         ///< what the sources need to stay alive
  std::function<Counters()> device;    ///< totals of the device; empty where there is none
  /// Packets that forwarders counted as sent and devices dropped; empty where packets go nowhere.
  std::function<std::uint64_t()> dropped_in_sending = {};
  std::uint64_t memory_bytes = 0;  ///< that the sources have mapped for packets
};

struct SessionOptions {
  ThreadOptions threads;
  std::size_t workers = 1;
  std::size_t batch = 256;
  ReadLimits limits;
  IpHeader header = IpHeader::outermost;
  KeyFields key = KeyFields::five_tuple;
  Identity identity = Identity::exact;
  const HashFunction* hash = nullptr;  ///< null: the keyed hash
  std::uint64_t seed = 0;
  std::optional<BpfFilter> filter;
  bool snapshots = true;    ///< reports before the end will be asked for
  bool keeps_ended = true;  ///< records of ended flows, for reports; else they are counted, and gone
  /// Where they go at once in place of that, if it takes records, and where findings go in place of take_events() and
  /// take_recalls(): by the collector's thread. Null: nowhere. What is given back is kept for the next report.
  Outputs* outputs = nullptr;
  bool commits_first = false;  ///< of a source that cannot wait: before the first packet, however long it takes
  std::uint64_t ended_bytes = ~std::uint64_t{0};  ///< that these may take until a report asks for them
  const TableEntry* table = nullptr;              ///< null: packet level, no flows
  std::size_t classifiers = 0;  ///< threads that tell classes, where class_helpers_maker() is; 0: the workers do
  FlowStageOptions monitor;     ///< `flows` is per worker; `statistics` and memory are set by make_monitors()
};

/// Which flows a snapshot hands out. Ended records come once; `live` leaves them to a later report.
enum class SnapshotFlows : std::uint8_t { live_and_ended, live };

/// One run: workers, the collector of ended records, and reports while it goes on and at its end.
class Session {
 public:
  struct Monitors {
    std::vector<std::unique_ptr<FlowStage>> workers;  ///< one each
    PageRanges memory;                                ///< to be committed while packets come
  };

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
  void confirm_written() { unconfirmed_.clear(); }

  /// Once the source is at its end, or stop() was called: waits for what the workers still have to do, and for outputs
  /// that the source can wait for to take what is left. False: not in that time.
  bool ended_within(std::chrono::milliseconds most);

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

  /// Cheap, at any time: packets polled so far, by all lanes.
  std::uint64_t packets_polled() const noexcept;

  /// Any thread, at any time, cheap, without a snapshot: what has been counted up to now, by all workers, but for what
  /// takes a walk over the tables (CountedBy::walk). Each counter is as of some moment of the last batches, and none
  /// goes back but live_flow_packets; sums of several hold exactly once the run has finished.
  Counters counters() const;

  /// Keeps the record of an ended flow, of whoever took it and could not write it, for the next report. Any thread.
  void keep_ended(std::span<const std::byte> record);

  /// Of ended flows, in no report for want of room. Any thread.
  std::uint64_t records_dropped() const noexcept { return collected_now_.read(Counter::dropped_records); }

  std::optional<Error> damage() const;

  /// Mapped at most, by all workers: tables, rows and rings; and by records that wait for a report.
  static std::uint64_t memory_bytes(const SessionOptions& options, const Schema& schema);

 private:
  using Clock = std::chrono::steady_clock;
  struct Chosen {
    Schema schema;
    std::uint64_t generation;
  };

  void collect();
  void collect_ended();
  void collect_findings();
  void keep_events();
  bool snapshot_ready() const noexcept;
  void visit_snapshots(std::uint64_t number, SnapshotFlows flows, const std::function<void(const ReportFlow&)>& visit);
  void visit_final(const std::function<void(const ReportFlow&)>& visit);
  void visit_live(const std::function<void(const ReportFlow&)>& visit);
  void visit_ended(std::uint64_t number, const Chosen& chosen, const std::function<void(const ReportFlow&)>& visit);
  void visit_flow(const FlowRecord& record, std::span<const std::byte> row, std::uint64_t generation,
                  const Chosen& chosen, const std::function<void(const ReportFlow&)>& visit);
  double ns_per_cycle() const;  ///< of the time stamp counter
  void explain(ReportSummary& summary) const;
  AdaptationSummary adaptation() const;
  ForwardingSummary forwarding() const;
  const RecallBoard* recalls() const noexcept;
  ReportSummary summarize(std::span<const MonitorCounts> counts, bool final);
  void account(ReportSummary& summary, std::span<const MonitorCounts> counts);
  bool may_overlap() const noexcept;
  std::uint64_t most_live() const noexcept;  ///< flows, of all workers

  Input input_;
  SessionOptions options_;
  std::shared_ptr<const Chosen> chosen_;
  std::vector<std::string> class_names_;  ///< with that of flows that are unknown, and of those with too few packets
  std::uint64_t memory_bytes_;
  std::unique_ptr<Workers> workers_;
  std::unique_ptr<LossWatch> loss_watch_;
  PageRanges memory_;  ///< to be committed
  CommitThread commit_;
  std::unique_ptr<ClassHelpers> classifiers_;
  std::vector<std::array<std::uint64_t, 2>> busy_before_;
  Clock::time_point began_;
  std::uint64_t began_cycles_ = 0;
  std::uint64_t reports_ = 0;
  std::uint64_t last_report_ns_ = 0;
  double interval_s_ = 0;
  std::optional<IntervalBases> bases_;  ///< where a column goes by the report before
  std::optional<FlowMerger> merger_;    ///< where workers may have parts of a flow
  std::vector<Value> values_;           ///< of the flow that is being visited

  RecordSpool spool_;
  Counters collected_;  ///< the collector's: records dropped for want of room
  PublishedCounters<CountedBy::collector> collected_now_;
  /// Ended records that a report of that number handed out, and nobody has confirmed to be written; later ones with
  /// them.
  std::vector<std::pair<std::uint64_t, RecordSpool::Taken>> unconfirmed_;
  std::atomic<std::uint64_t> refused_records_{0}, refused_packets_{0};  ///< by the spool, of keep_ended()
  std::thread collector_;
  std::atomic<bool> collecting_{true}, collect_now_{false}, collected_all_{false};

  EventQueue events_;
  std::vector<Event> last_events_;  ///< kept for the next take_events()
  std::optional<Analyst> analyst_;
  std::thread analysis_;
  std::atomic<bool> analysing_{true}, analysed_{false};
};

}  // namespace parshall
