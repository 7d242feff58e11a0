// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_set>
#include <utility>

#include "base/mailbox.hpp"
#include "engine/batch_flows.hpp"
#include "engine/byte_sum.hpp"
#include "engine/ended_flows.hpp"
#include "engine/flood_guard.hpp"
#include "engine/flow_stage.hpp"
#include "engine/idle_sweep.hpp"
#include "engine/measure_stage.hpp"
#include "engine/snapshotter.hpp"
#include "pipeline/flow/key_hash.hpp"

namespace parshall {

/// A flow stage without its table: the part that is independent of the table type, and compiled once.
class MeasuringStage : public FlowStage {
 public:
  const ControlCounts* control() const noexcept override { return measure_stage_.control(); }
  bool control_window_ends(LinkPlace now) const noexcept override { return measure_stage_.control_window_ends(now); }
  void end_control_window(LinkPlace now, const WorkerLoad& load) noexcept override;

  void request_snapshot(std::uint64_t number) noexcept override { snapshotter_.request(number); }
  Snapshot* snapshot_ready() noexcept override { return snapshotter_.ready(); }
  void request_statistics(StatisticChoice choice) override { wanted_statistics_.leave(std::move(choice)); }

  StatisticChoice statistics() const override;
  void stop_waiting() noexcept override { measure_stage_.stop_waiting(); }
  std::uint64_t names_not_read() const noexcept override { return measure_stage_.names_not_read(); }
  std::uint64_t dropped_segments() const noexcept override { return measure_stage_.dropped_segments(); }
  const StageCost* cost(MeasuringPart stage) const noexcept override { return measure_stage_.cost(stage); }
  std::vector<StatePackets> state_packets() const override { return measure_stage_.state_packets(); }
  const ClassJobs* class_jobs() const noexcept override { return measure_stage_.class_jobs(); }
  RecordRing& ended() noexcept override { return ended_.ring(); }
  RecordRing& window_messages() noexcept override { return measure_stage_.messages(); }
  std::uint64_t observed_merges() const noexcept override { return merged_.size(); }

 protected:
  MeasuringStage(const FlowStageOptions& options, std::uint32_t slots, bool flows_move);

  /// Returns a flow of the table, to count or copy it. If flows are biflows, the record becomes one.
  TalliedFlow flow_of(FlowRecord& record, std::uint32_t slot) const noexcept;
  /// Returns it without its row, which may take time to write.
  TalliedFlow tally_of(FlowRecord& record, std::uint32_t slot) const noexcept;

  /// Ends the rows of the measure stage for that slot: one, or two for biflows.
  void end_rows(std::uint32_t slot, const FlowRecord& record) noexcept;
  void go_on(std::uint32_t slot, const FlowRecord& ended) noexcept;
  void move_rows(std::uint32_t from, std::uint32_t to) noexcept;
  void prefetch_rows(std::uint32_t slot) const noexcept;

  /// Adds the packets that came, and those that are in no flow.
  void add_flowless(StageCounts& counts, std::size_t table_lines) const noexcept;
  /// Returns all counts that need no walk over the table.
  StageCounts counts_but_live(std::size_t table_lines, std::size_t live_flows) const noexcept;
  /// Publishes those counts if no packet came, and otherwise only now and then: it costs as much as some packets.
  void publish_now_and_then(std::size_t table_lines, std::size_t live_flows) noexcept;

  /// Ends a flood guard's window, given the flows that entered the table and those in it. Returns filter_ from now on.
  FloodFilter* end_guard_window(std::uint64_t begun, std::uint64_t live) noexcept;

  void update_extras() noexcept {
    extras_ = measure_stage_.any() || observe_merges_ || bytes_ || snapshotter_.has_any();
  }

  /// Uses other statistics, after flush(). Throws std::bad_alloc, and has none then.
  void use_statistics(const StatisticChoice& choice);

  /// Finishes a copy that has all slots.
  void finish_snapshot(std::size_t table_lines) noexcept;

  // Members used for every packet come first.
  InFlight in_flight_;
  FloodFilter* filter_ = nullptr;  ///< set while the filter is on
  std::uint64_t latest_ns_ = 0;    ///< time of the latest packet counted, in order of arrival
  bool can_wait_;
  bool extras_ = false;         ///< packets need more than counting
  bool only_first_ = false;     ///< only the first packets of a flow have something to measure, and answers of DNS
  bool reads_answers_;          ///< answers of DNS name addresses
  bool follows_batch_ = false;  ///< true during run_classified()
  bool observe_merges_;

  std::unique_ptr<BatchFlows> batch_flows_;  ///< null: classes of packets are not needed
  std::unique_ptr<FloodGuard> guard_;        ///< null: every flow enters the table
  std::optional<ByteSum> bytes_;  ///< counts packets no longer in flight; unset: bytes are needed only at the end
  EndedFlows ended_;
  MeasureStage measure_stage_;
  std::uint64_t generation_ = 0;  ///< generation of the statistics
  Mailbox<StatisticChoice> wanted_statistics_;
  IdleSweep sweep_;
  std::unordered_set<FlowKey, KeyHash> merged_;
  Snapshotter snapshotter_;
  std::uint64_t arrived_ = 0, published_at_ = 0;  ///< packets: at the last publish_now_and_then(), and published
};

}  // namespace parshall
