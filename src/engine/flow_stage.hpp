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
#include "pipeline/output/ended_record.hpp"
#include "pipeline/output/monitor_counts.hpp"

namespace parshall {

/// Calls with every flow of a table: the record, and the statistics part of its row (empty without statistics).
using FlowVisitor = std::function<void(const FlowRecord&, std::span<const std::byte> row)>;

/// Statistics and the number that tells one choice of them from the next.
struct StatisticChoice {
  std::shared_ptr<const StatisticSet> set;
  std::uint64_t generation = 0;
};

/// A copy of a worker's flows, filled a slice at a time between batches while the traffic goes on.
///
/// A packet belongs to the snapshot unless it came to a slot that had been copied already; those are counted in
/// `later`, so that the packets of the copied flows and of the records ended so far add up exactly.
///
/// Memory: address space for every slot, committed as it fills; it stays for the next snapshot.
struct Snapshot {
  HugeBuffer<std::byte> flows;  ///< RecordHeader + row, `stride` bytes each, counts.live_flows of them
  std::size_t stride = 0;
  StatisticChoice statistics;
  std::uint64_t number = 0;
  MonitorCounts counts;
  std::vector<StatePackets> states;  ///< with packets that came while it was filled
};

/// What the measure stage is made of.
enum class MeasureStage : std::uint8_t { statistics, findings, windows };

/// Flow and measure stage of one worker. One thread calls everything but the two request functions.
class FlowStage {
 public:
  virtual ~FlowStage() = default;

  /// Run to completion: decodes, counts and measures. Some packets stay in flight until drain().
  virtual void run(FrontEnd& front, std::span<const RawPacket> packets) noexcept = 0;

  /// run() and drain(); then the class that each packet's flow has by now, kNotClassified where it has none yet, or no
  /// flow has the packet. `classes`: one of each packet, of which there are at most FlowStageOptions::classified_batch.
  virtual void run_classified(FrontEnd& front, std::span<const RawPacket> packets,
                              std::span<ClassId> classes) noexcept {
    run(front, packets);
    drain();
    std::ranges::fill(classes, kNotClassified);
  }

  /// The same for packets decoded by another thread; `places` as in InFlight::push_at().
  /// `tcp` is by packet, or empty.
  virtual void admit(std::span<const PacketFacts> packets, std::span<const LinkPlace> places,
                     std::span<const TcpFacts> tcp) noexcept = 0;

  /// Retires everything in flight.
  virtual void drain() noexcept = 0;

  /// One slice, some microseconds, of expiry, of a pending snapshot and of telling about a window that has ended; the
  /// link is at `now`. True while a snapshot or a window needs more.
  virtual bool housekeep(LinkPlace now) noexcept = 0;

  /// Any thread: what the flow stage had counted at the end of one of the last housekeep(), or of finish().
  Counters published() const noexcept { return published_.read(); }

  /// Null where no flow gives way. Any thread.
  virtual const ControlCounts* control() const noexcept { return nullptr; }
  virtual bool control_window_ends(LinkPlace) const noexcept { return false; }
  /// Then: which flows give way from here on.
  virtual void end_control_window(LinkPlace, const WorkerLoad&) noexcept {}

  /// The input is at its end, at `now`: ends the open windows. After the last drain(); the only call that may wait for
  /// the reader of window_messages() where packets need not.
  virtual void finish(LinkPlace now) noexcept = 0;

  /// For the reporting thread: a snapshot is wanted; done when snapshot_ready() returns it.
  virtual void request_snapshot(std::uint64_t number) noexcept = 0;
  virtual Snapshot* snapshot_ready() noexcept = 0;

  /// For the reporting thread: other statistics, starting from nothing at the next batch.
  virtual void request_statistics(StatisticChoice choice) = 0;

  /// How often it began, or ceased, to see only some of the flows' packets: an odd number while it does. Any thread.
  std::uint64_t partial_changes() const noexcept { return partial_changes_.load(std::memory_order_acquire); }

  /// After the worker has stopped.
  virtual void visit(const FlowVisitor& visitor) const = 0;
  virtual std::uint32_t slots() const noexcept { return 0; }
  virtual void visit_slot(std::uint32_t, const FlowVisitor&) const {}  ///< nothing where no flow is there
  virtual MonitorCounts counts() const noexcept = 0;
  virtual StatisticChoice statistics() const = 0;
  /// Any thread: the run ends, and nothing waits any more for what tasks find.
  virtual void stop_waiting() noexcept = 0;

  /// Any thread. Null where it is not timed.
  virtual const StageCost* cost(MeasureStage stage) const noexcept = 0;
  virtual std::uint64_t dropped_segments() const noexcept = 0;  ///< FlowTracker's
  virtual std::vector<StatePackets> state_packets() const = 0;  ///< by monitoring state; none where there is one

  /// Null where the worker tells classes itself, or there are none. The rings any thread, counts after the worker.
  virtual const ClassJobs* class_jobs() const noexcept { return nullptr; }
  virtual RecordRing& ended() noexcept = 0;
  virtual RecordRing& window_messages() noexcept = 0;
  virtual std::uint64_t observed_merges() const noexcept = 0;

 protected:
  void publish(const Counters& counters) noexcept { published_.publish(counters); }

  /// Before the first packet of which that holds.
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
  bool snapshots = true;  ///< map the memory for them at once, so that a report cannot fail for want of it
  /// Let the table grow as flows come, up to `flows`: the identity that hashed the packets. For sources that can wait
  /// while flows move, without snapshots, classes, windows, what they need, or observed merges.
  std::optional<FlowIdentity> grow_by;
  bool populate = false;  ///< commit its memory in advance, as CommitLater says: for sources that cannot wait
  std::size_t ended_ring_bytes = std::size_t{8} << 20;
  std::vector<WindowPlan> windows;             ///< whose flows are told, each as the clock of its place here
  std::vector<FindingNeeds> findings = {{}};   ///< by monitoring state
  bool side_facts = false;                     ///< statistics take them
  bool counts_bytes = false;                   ///< published() has the bytes of all packets
  bool biflow = false;                         ///< both directions of a flow are one (RFC 5103)
  std::shared_ptr<const StatePlan> states;     ///< null: all flows are in one
  std::shared_ptr<const ControlPlan> control;  ///< null: no flow gives way to a lighter state
  std::uint64_t seed = 0;                      ///< of hashes of its own
  std::size_t window_ring_bytes = std::size_t{16} << 20;
  std::uint32_t flood_filter_bytes = 0;  ///< on the wire, that a flow has to show while there is a flood; 0: no filter
  bool flood_filter_for_room = false;  ///< it is on while flows of a window have no room; else, while there is no time
  std::size_t classified_batch = 0;    ///< packets, of run_classified(); 0: it is not called
  bool can_wait = true;                ///< the source waits: then a full ring loses nothing
  bool explain = false;                ///< time the measure stage, of some batches
  std::size_t class_rings = 0;         ///< to other threads, which tell classes; 0: the worker does
  std::size_t class_ring_jobs = ClassJobRing::kJobs;
};

}  // namespace parshall
