// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/record_ring.hpp"
#include "base/stage_cost.hpp"
#include "engine/biflows.hpp"
#include "engine/flow_stage.hpp"
#include "pipeline/flow/flow_keys.hpp"
#include "pipeline/measure/flow_rows.hpp"
#include "pipeline/measure/flow_tracker.hpp"
#include "pipeline/measure/windows/window_rows.hpp"

namespace parshall {

/// Measure stage of one worker: statistics, findings about packets, and windows, in rows beside the table. It runs one
/// batch behind the table, so that the prefetched rows have arrived.
class MeasureStage {
 public:
  MeasureStage(const FlowStageOptions& options, std::size_t table_slots);

  /// Returns the memory for windows and for findings about packets, of that many rows.
  static std::size_t row_memory_bytes(const FlowStageOptions& options, std::size_t rows) noexcept;

  bool any() const noexcept { return rows_ || !windows_.empty() || biflows_; }

  /// Returns null if each direction is a flow, so that a row belongs to a slot; otherwise a row belongs to one
  /// direction.
  const Biflows* biflows() const noexcept { return biflows_.get(); }
  bool has_windows() const noexcept { return !windows_.empty(); }
  /// Returns whether add() needs packets with their bytes.
  bool reads_payloads() const noexcept { return reads_payloads_; }

  /// Replaces the statistics; null removes them. Flows keep the point at which they began. They keep their classes only
  /// if packets are marked by class, since that takes time, and memory for both. Throws std::bad_alloc, and has no
  /// statistics then.
  void use(std::shared_ptr<const StatisticSet> statistics);
  void populate_statistics() noexcept {
    if (rows_) rows_->populate();
    if (both_rows_) both_rows_->populate();
  }
  void drop_statistics() noexcept;
  const std::shared_ptr<const StatisticSet>& statistics() const noexcept { return statistics_; }

  /// Returns how many packets at the start of a flow must be added, if later ones change nothing; 0: all.
  std::uint32_t first_packets() const noexcept {
    return rows_ && windows_.empty() && !biflows_ ? rows_->set()->first_packets().value_or(0) : 0;
  }

  bool classifies() const noexcept { return rows_ && rows_->set()->classifies(); }
  /// Returns the class of the flow in that slot by its sizes, or nullopt if flows have no class.
  std::optional<ClassId> class_of(std::uint32_t slot) const noexcept {
    if (!classifies()) return std::nullopt;
    return rows_->class_of(slot);
  }
  /// Returns its class by whatever is known of the flow.
  ClassId told_class(std::uint32_t slot) const noexcept {
    return classifies() ? rows_->told_class(slot).id : kNotClassified;
  }
  /// Returns null if the worker classifies flows itself.
  const ClassJobs* class_jobs() const noexcept { return jobs_.get(); }
  bool class_jobs_wait() const noexcept { return jobs_ && rows_ && rows_->class_jobs_wait(); }
  void take_classes() noexcept {
    if (jobs_ && rows_) rows_->take_classes();
  }

  /// Returns the row of the record in a slot, until the next call.
  std::span<const std::byte> row(std::uint32_t slot) const noexcept {
    if (biflows_) return biflow_row(slot);
    return rows_ ? rows_->statistics(slot) : std::span<const std::byte>();
  }

  [[gnu::always_inline]] void prefetch(std::uint32_t slot) const noexcept {
    if (biflows_) biflows_->prefetch(slot);
    if (both_rows_) both_rows_->prefetch(Biflows::slot_of(slot));
    if (rows_) rows_->prefetch(slot);
    if (!by_slot_.empty()) by_slot_.prefetch(slot);
  }

  /// Adds the next packet, with `place.latest_ns`, `tcp` and `raw` if known or needed. The bytes of `raw` must be valid
  /// until flush(). `key_of(slot)` returns the slot's flow.
  [[gnu::always_inline]] void add(SlotRef slot, const PacketFacts& facts, LinkPlace place, const TcpFacts& tcp,
                                  const RawPacket* raw, FlowKeys key_of) noexcept {
    if (slot.is_kept_out()) [[unlikely]]
      return add_kept_out(facts, place, key_of);
    const std::uint32_t row = biflows_ ? Biflows::row_of(slot.slot(), tcp.is_back) : slot.slot();
    prefetch(row);
    place = note(facts, place);
    const std::size_t at = added_++ % pending_.size();
    // Stored field by field: a copy as a whole would read recent partial stores, and stall.
    RowUpdate& packet = pending_[at];
    packet.slot = row;
    packet.starts_flow = slot.is_new();
    packet.is_split = slot.is_split();
    packet.is_late = slot.is_late();
    packet.counts = facts.counts;
    packet.time_ns = facts.time_ns;
    packet.place.position = place.position;
    packet.place.latest_ns = place.latest_ns;
    if (keeps_names_) {
      packet.packet_name = tcp.packet_name;
      if (rows_) rows_->prefetch_name(row, tcp.packet_name);
    }
    if (reads_headers_) pending_tcp_[at] = tcp;
    if (reads_payloads_) pending_raw_[at] = raw;
    if (added_ - measured_ == pending_.size()) measure_oldest(key_of);
  }

  /// Measures all packets added so far.
  void flush(FlowKeys key_of) noexcept {
    while (measured_ != added_) measure_oldest(key_of);
    added_ = measured_ = 0;
  }

  // After flush(), for a row:

  void flow_ended(std::uint32_t slot, EndReason reason) noexcept {
    if (rows_) rows_->flow_ended(slot, /*goes_on=*/reason == EndReason::active_timeout);
    for (const auto& windows : windows_) windows->flow_ended(slot, reason == EndReason::lack_of_resources);
    if (tracker_ && reason != EndReason::active_timeout) tracker_->flow_ended(slot);  // else the flow goes on
  }
  /// Begins another record of the same flow in the slot, after flow_ended().
  void flow_goes_on(std::uint32_t slot, const FlowRecord& ended) noexcept {
    if (rows_) rows_->flow_goes_on(slot, ended);
  }
  /// Moves the state that separates directions to another slot of the table.
  void biflow_moved(std::uint32_t from, std::uint32_t to) noexcept {
    biflows_->move(from, to);
    if (both_rows_) both_rows_->move(from, to);
  }
  void flow_moved(std::uint32_t from, std::uint32_t to) noexcept {
    if (rows_) rows_->move(from, to);
    if (tracker_) tracker_->flow_moved(from, to);
    for (const auto& windows : windows_) windows->flow_moved(from, to);
  }

  /// Reports windows that ended, and calls `drain` before one ends. Returns true if there is more to report.
  template <class Drain>
  bool housekeep(LinkPlace now, Drain drain) noexcept {
    const LinkPlace link = later_of(now);
    bool more = false;
    for (const auto& windows : windows_) {
      if (windows->ends_at(link)) {
        drain();
        windows->advance(link);
        link_.latest_ns = link.latest_ns;  // states never lag behind windows
      }
      more |= windows->tell();
    }
    return more;
  }

  void finish(LinkPlace now) noexcept;

  RecordRing& messages() noexcept { return messages_; }

  /// Ends all waiting. Any thread.
  void stop_waiting() noexcept {
    if (states_) states_->stop_waiting();
  }

  /// Returns null if the stage is not timed. Any thread.
  const StageCost* cost(MeasuringPart stage) const noexcept {
    return costs_ ? &(*costs_)[static_cast<std::size_t>(stage)] : nullptr;
  }

  /// Returns the flows that were evicted while a window had them, for the window length with the most.
  std::uint64_t evicted() const noexcept {
    std::uint64_t most = 0;
    for (const auto& windows : windows_) most = std::max(most, windows->evicted());
    return most;
  }

  /// Returns the flows without a name for lack of room or time. Any thread.
  std::uint64_t names_not_read() const noexcept { return names_not_read_.load(std::memory_order_relaxed); }
  std::uint64_t dropped_segments() const noexcept { return tracker_ ? tracker_->dropped_segments() : 0; }
  std::vector<StatePackets> state_packets() const {
    std::vector<StatePackets> packets(states_ ? states_->size() : 0);
    fill(packets);
    return packets;
  }
  /// Fills in state_packets(), for as many states.
  void fill(std::span<StatePackets> packets) const noexcept {
    for (std::size_t state = 0; state < packets.size(); ++state)
      packets[state] = {tracker_->state_packets(state), tracker_->kept_packets()[state]};
  }

  /// Returns null if flows are never reduced.
  const ControlCounts* control() const noexcept { return control_ ? &control_->counts() : nullptr; }
  bool control_window_ends(LinkPlace now) const noexcept { return control_->due(later_of(now)); }
  /// Ends a control window, after flush().
  void end_control_window(LinkPlace now, const WorkerLoad& load) noexcept;

  /// Returns the expected cost of a packet without inserting its flow; nullopt if unknown.
  std::optional<double> packet_ns() const noexcept { return control_ ? control_->packet_ns() : std::nullopt; }

 private:
  /// Returns the next packet's position, with the latest time.
  LinkPlace note(const PacketFacts& facts, LinkPlace place) noexcept {
    place.latest_ns = link_.latest_ns = std::max({link_.latest_ns, place.latest_ns, facts.time_ns});
    link_.position = std::max(link_.position, place.position + 1);
    return place;
  }

  /// Adds a packet that is in no flow. Windows that it ends contain all packets before it.
  void add_kept_out(const PacketFacts& facts, LinkPlace place, FlowKeys key_of) noexcept;

  /// Replaces the rows of both directions together.
  void use_both(const StatisticSet& statistics);

  /// Puts the row of a biflow's record together.
  std::span<const std::byte> biflow_row(std::uint32_t slot) const noexcept;

  /// Adds packets to the statistics of both directions. Requires that a packet says what it begins in its slot.
  void add_to_both(std::size_t at, std::size_t count) noexcept;

  /// Determines the direction of the packets in their flows.
  void count_directions(std::span<RowUpdate> packets, FlowKeys key_of) noexcept;

  /// Measures the oldest packets, at most kStatBatch. Only the last call of flush(), which starts over, finds fewer. So
  /// measured_ is a multiple of kStatBatch, and the packets never wrap around the ring's end.
  void measure_oldest(FlowKeys key_of) noexcept;

  /// Commits all memory that packets touch: a source that cannot wait would lose packets meanwhile.
  void populate() noexcept {
    by_slot_.populate();
    for (const auto& windows : windows_) windows->populate();
    if (tracker_) tracker_->populate();
    if (biflows_) biflows_->populate();
  }

  /// Measures packets between which no monitoring state changes.
  void measure(std::span<const RowUpdate> packets, const TcpFacts* tcp, FlowKeys key_of) noexcept;

  StageCost::Timer time(MeasuringPart stage, std::size_t packets) noexcept {
    return {timed_ ? &(*costs_)[static_cast<std::size_t>(stage)] : nullptr, packets};
  }

  void change_states(LinkPlace place) noexcept;

  /// Returns the later of the link's position as others see it and that of the packets added here.
  LinkPlace later_of(LinkPlace now) const noexcept {
    return {std::max(now.position, link_.position), std::max(now.latest_ns, link_.latest_ns)};
  }

  std::unique_ptr<ClassJobs> jobs_;
  std::unique_ptr<Biflows> biflows_;
  std::shared_ptr<const StatisticSet> statistics_;  ///< null if there are none
  std::unique_ptr<FlowRows> rows_;                  ///< null if no statistic is of a flow or of one direction
  std::unique_ptr<FlowRows> both_rows_;             ///< by slot; null if no statistic is of both directions together
  mutable std::vector<std::byte> biflow_row_;       ///< of a record; empty if it has the row of one direction
  SlotRows by_slot_;                                ///< of tracker_ and windows_
  std::unique_ptr<FlowStates> states_;
  std::unique_ptr<FlowTracker> tracker_;
  std::unique_ptr<WorkerControl> control_;
  RecordRing messages_;
  std::vector<std::unique_ptr<WindowRows>> windows_;
  bool can_wait_, follows_tcp_, reads_headers_, keeps_names_, keeps_classes_, tells_kept_out_;
  std::optional<IpHeader> payloads_behind_;
  std::shared_ptr<AddressNames> address_names_;
  bool reads_payloads_;
  std::atomic<std::uint64_t> names_not_read_{0};

  static constexpr std::size_t kStages = 3, kTimedEvery = 15;  ///< coprime to the batches of a poll
  std::unique_ptr<std::array<StageCost, kStages>> costs_;
  bool timed_ = false;
  std::uint64_t measured_batches_ = 0;
  std::uint64_t missed_ = 0;  ///< packets missed by the device up to the last control window

  std::array<RowUpdate, 2 * kStatBatch> pending_;  ///< a ring
  std::vector<RowUpdate> pending_both_;            ///< the same packets for both_rows_
  std::array<TcpFacts, 2 * kStatBatch> pending_tcp_;
  std::array<const RawPacket*, 2 * kStatBatch> pending_raw_;
  std::array<PacketFinding, kStatBatch> findings_;
  std::size_t added_ = 0, measured_ = 0;  ///< counts of pending_: added, and measured
  LinkPlace link_;                        ///< position of the latest packet added
};

}  // namespace parshall
