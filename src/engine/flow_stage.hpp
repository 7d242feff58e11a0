// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <unordered_set>
#include <vector>

#include "base/huge_buffer.hpp"
#include "base/published_counters.hpp"
#include "base/record_ring.hpp"
#include "base/stage_cost.hpp"
#include "engine/worker_control.hpp"
#include "pipeline/flow/front_end.hpp"
#include "pipeline/flow/in_flight.hpp"
#include "pipeline/flow/table.hpp"
#include "pipeline/measure/classifier.hpp"
#include "pipeline/measure/flow_rows.hpp"
#include "pipeline/measure/states/state_plan.hpp"
#include "pipeline/measure/windows/window_rows.hpp"
#include "pipeline/output/records/ended_record.hpp"
#include "pipeline/output/stage_counts.hpp"

namespace parshall {

/// Visits every flow of a table: its record, and the statistics part of its row (empty without statistics).
using FlowVisitor = std::function<void(const FlowRecord&, std::span<const std::byte> row)>;

/// A set of statistics, with a generation number that identifies it.
struct StatisticChoice {
  std::shared_ptr<const StatisticSet> set;
  std::uint64_t generation = 0;
};

/// Copy of a worker's flows, filled in slices between batches while packets go on.
///
/// A packet belongs to the snapshot unless its slot had been copied before. Such packets are counted in `later`, so
/// that the packets of the copied flows and of the records ended so far add up exactly.
///
/// Memory: address space for every slot, committed as it fills; it is kept for the next snapshot.
struct Snapshot {
  HugeBuffer<std::byte> flows;  ///< RecordHeader + row, `stride` bytes each, counts.live_flows of them
  std::size_t stride = 0;
  StatisticChoice statistics;
  std::uint64_t number = 0;
  StageCounts counts;
  std::vector<StatePackets> states;  ///< includes packets that came while it was filled
};

/// Parts of the measure stage.
enum class MeasuringPart : std::uint8_t { statistics, findings, windows };

/// Flow and measure stage of one worker. One thread calls all functions, except those marked otherwise.
class FlowStage {
 public:
  virtual ~FlowStage() = default;

  /// Decodes, counts and measures packets; used by run-to-completion. Some packets stay in flight until drain().
  virtual void run(FrontEnd& front, std::span<const RawPacket> packets) noexcept = 0;

  /// Calls run() and drain(), then returns in `classes` the class of each packet's flow. It is kNotClassified if the
  /// flow has none yet or the packet is in no flow. At most FlowStageOptions::classified_batch packets, with one class
  /// each.
  virtual void run_classified(FrontEnd& front, std::span<const RawPacket> packets,
                              std::span<ClassId> classes) noexcept {
    run(front, packets);
    drain();
    std::ranges::fill(classes, kNotClassified);
  }

  /// Counts and measures packets that another thread decoded; `places` as in InFlight::push_at(). `tcp` has one entry
  /// per packet, or is empty.
  virtual void admit(std::span<const PacketFacts> packets, std::span<const LinkPlace> places,
                     std::span<const TcpFacts> tcp) noexcept = 0;

  /// Completes all packets in flight.
  virtual void drain() noexcept = 0;

  /// Does a slice of a few microseconds of expiry, of a pending snapshot, and of reporting a window that has ended.
  /// `now` is the link's position. Returns true while a snapshot or a window needs more.
  virtual bool housekeep(LinkPlace now) noexcept = 0;

  /// Returns the counters of the flow stage at a recent housekeep(), or at finish(). Any thread.
  Counters published() const noexcept { return published_.read(); }

  /// Returns null if flows are never reduced. Any thread.
  virtual const ControlCounts* control() const noexcept { return nullptr; }
  virtual bool control_window_ends(LinkPlace) const noexcept { return false; }
  /// Ends a control window and decides which flows are reduced from now on.
  virtual void end_control_window(LinkPlace, const WorkerLoad&) noexcept {}

  /// Ends the open windows at the end of the input, at `now`; call it after the last drain(). If packets cannot wait,
  /// this is the only call that may wait for the reader of window_messages(). Returns the latest time of the link, or
  /// of a packet that it counted.
  virtual std::uint64_t finish(LinkPlace now) noexcept = 0;

  /// Ends the flows that are over by their timeouts at `now_ns`, the latest time that finish() returned for any stage.
  /// Without this, it would depend on the table which of them have ended. Leaves them alone if packets cannot wait.
  virtual void end_quiet([[maybe_unused]] std::uint64_t now_ns) noexcept {}

  /// Requests a snapshot, for the reporting thread; it is complete when snapshot_ready() returns it.
  virtual void request_snapshot(std::uint64_t number) noexcept = 0;
  virtual Snapshot* snapshot_ready() noexcept = 0;

  /// Requests other statistics, for the reporting thread. They start empty at the next batch.
  virtual void request_statistics(StatisticChoice choice) = 0;

  /// Counts the switches to and from seeing only a part of the flows' packets: odd while only a part is seen. Any
  /// thread.
  std::uint64_t partial_changes() const noexcept { return partial_changes_.load(std::memory_order_acquire); }

  /// Visits all flows; call it after the worker has stopped.
  virtual void visit(const FlowVisitor& visitor) const = 0;
  virtual std::uint32_t slots() const noexcept { return 0; }
  virtual void visit_slot(std::uint32_t, const FlowVisitor&) const {}  ///< no call for an empty slot
  virtual StageCounts counts() const noexcept = 0;
  virtual StatisticChoice statistics() const = 0;
  /// Ends all waiting for the consumer of findings, because the run ends. Any thread.
  virtual void stop_waiting() noexcept = 0;

  /// Returns null if the stage is not timed. Any thread.
  virtual const StageCost* cost(MeasuringPart stage) const noexcept = 0;
  virtual std::uint64_t names_not_read() const noexcept { return 0; }  ///< see NameReader
  virtual std::uint64_t dropped_segments() const noexcept = 0;         ///< segments dropped by FlowTracker
  virtual std::vector<StatePackets> state_packets() const = 0;  ///< by monitoring state; empty if there is only one

  /// Returns null if the worker classifies flows itself, or if there are no classes. The rings may be used by any
  /// thread, the counts after the worker has ended.
  virtual const ClassJobs* class_jobs() const noexcept { return nullptr; }
  virtual RecordRing& ended() noexcept = 0;
  virtual RecordRing& window_messages() noexcept = 0;
  virtual std::uint64_t observed_merges() const noexcept = 0;

 protected:
  void publish(const Counters& counters) noexcept { published_.publish(counters); }

  /// Records a switch; call it before the first packet that it applies to.
  void sees_part(bool partial) noexcept {
    const std::uint64_t changes = partial_changes_.load(std::memory_order_relaxed);
    if ((changes % 2 == 1) != partial) partial_changes_.store(changes + 1, std::memory_order_release);
  }

 private:
  std::atomic<std::uint64_t> partial_changes_{0};
  PublishedCounters<CountedBy::flows> published_;
};

struct FlowStageOptions {
  std::size_t flows = 1 << 20;
  Timeouts timeouts;
  StatisticChoice statistics;
  bool observe_merges = false;
  bool snapshots = true;  ///< map their memory at once, so that no report fails for lack of it
  /// Lets the table grow as flows come, up to `flows`; it is the identity that hashed the packets. Only for sources
  /// that can wait while flows move, and without snapshots, classes, windows, findings or observed merges.
  std::optional<FlowIdentity> grow_by;
  bool populate = false;  ///< commit memory in advance (CommitLater); for sources that cannot wait
  std::size_t ended_ring_bytes = std::size_t{8} << 20;
  std::vector<WindowPlan> windows;            ///< each index is that of a window clock
  std::vector<FindingNeeds> findings = {{}};  ///< by monitoring state
  bool side_facts = false;                    ///< statistics need SideFacts
  bool packet_names = false;                  ///< statistics need packet names
  /// Set if flows have names, which run() reads from packets behind this IP header. admit() has no packets to read.
  std::optional<IpHeader> payloads_behind = {};
  std::shared_ptr<AddressNames> address_names = {};       ///< of all workers; null if addresses have no names
  bool counts_bytes = false;                              ///< published() includes the bytes of all packets
  bool biflow = false;                                    ///< both directions of a connection are one flow (RFC 5103)
  std::shared_ptr<const StatePlan> states;                ///< null: all flows are in one state
  std::shared_ptr<const ControlPlan> control;             ///< null: flows are never reduced
  std::uint64_t seed = 0;                                 ///< seed of internal hashes
  std::size_t window_ring_bytes = std::size_t{16} << 20;  ///< for messages about windows, and their bins
  std::size_t waiting_rows = std::size_t{1} << 15;        ///< rows of each window length that may wait to be read
  std::uint32_t flood_filter_bytes = 0;                   ///< wire bytes a flow must show during a flood; 0: no filter
  bool flood_filter_for_room = false;  ///< true: on while flows of a window lack room; false: while time is short
  std::size_t classified_batch = 0;    ///< most packets of run_classified(); 0: it is not called
  bool can_wait = true;                ///< the source waits, so a full ring loses nothing
  bool explain = false;                ///< time the measure stage, for some batches
  std::size_t class_rings = 0;         ///< rings to classifier threads; 0: the worker classifies
  std::size_t class_ring_jobs = ClassJobRing::kJobs;

  /// Returns whether tasks need more of a flow than its counters.
  bool tracks_flows() const noexcept { return states || std::ranges::any_of(findings, &FindingNeeds::any); }
};

}  // namespace parshall
