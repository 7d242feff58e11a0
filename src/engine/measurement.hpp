// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
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

/// The measure stage of one worker: statistics, what is found out about packets, and windows, in rows beside the table.
/// A batch behind the table, so that the rows have come from memory.
class Measurement {
 public:
  /// `sample`: which flows are looked at; null: all.
  Measurement(const FlowStageOptions& options, std::size_t table_slots, const FlowSample* sample);

  bool any() const noexcept { return rows_ || !windows_.empty() || biflows_; }

  /// Null where each direction is a flow: then a row is a slot's; else one of its directions'.
  const Biflows* biflows() const noexcept { return biflows_.get(); }
  bool has_windows() const noexcept { return !windows_.empty(); }

  /// Other statistics from here on; none where there is none. Throws std::bad_alloc, and has none then. Flows keep
  /// where they began, and their classes only where packets are marked by them: it takes time, and memory for both.
  void use(std::shared_ptr<const StatisticSet> statistics);
  void populate_statistics() noexcept {
    if (rows_) rows_->populate();
  }
  void drop_statistics() noexcept { rows_.reset(); }
  const FlowRows* rows() const noexcept { return rows_.get(); }

  /// How many packets at a flow's beginning are to be added, where later ones change nothing; 0: all.
  std::uint32_t first_packets() const noexcept {
    return rows_ && windows_.empty() && !biflows_ ? rows_->set()->first_packets().value_or(0) : 0;
  }

  bool classifies() const noexcept { return rows_ && rows_->set()->classifies(); }
  /// Of the flow in that slot; nothing where flows have no class.
  std::optional<ClassId> class_of(std::uint32_t slot) const noexcept {
    if (!classifies()) return std::nullopt;
    return rows_->set()->class_of(rows_->statistics(slot).data());
  }
  /// Null where the worker tells classes itself.
  const ClassJobs* class_jobs() const noexcept { return jobs_.get(); }
  bool class_jobs_wait() const noexcept { return jobs_ && rows_ && rows_->class_jobs_wait(); }
  void take_classes() noexcept {
    if (jobs_ && rows_) rows_->take_classes();
  }

  std::span<const std::byte> row(std::uint32_t slot) const noexcept {
    return rows_ ? rows_->statistics(slot) : std::span<const std::byte>();
  }

  [[gnu::always_inline]] void prefetch(std::uint32_t slot) const noexcept {
    if (biflows_) biflows_->prefetch(slot);
    if (rows_) rows_->prefetch(slot);
    if (tracker_) tracker_->prefetch(slot);
    for (const auto& windows : windows_) windows->prefetch(slot);
  }

  /// The next packet; `place.latest_ns` and `tcp` where they are known, or asked for. `key_of(slot)` is the slot's
  /// flow.
  [[gnu::always_inline]] void add(SlotRef slot, const PacketFacts& facts, LinkPlace place, const TcpFacts& tcp,
                                  FlowKeys key_of) noexcept {
    if (slot.is_kept_out()) [[unlikely]]
      return add_kept_out(facts, place, key_of);
    const std::uint32_t row = biflows_ ? Biflows::row_of(slot.slot(), tcp.is_back) : slot.slot();
    prefetch(row);
    place = note(facts, place);
    const std::size_t at = added_++ % pending_.size();
    // Field by field: made elsewhere and copied as a whole, what was just stored in parts is loaded in one piece.
    RowUpdate& packet = pending_[at];
    packet.slot = row;
    packet.starts_flow = slot.is_new();
    packet.is_split = slot.is_split();
    packet.is_late = slot.is_late();
    packet.counts = facts.counts;
    packet.time_ns = facts.time_ns;
    packet.place.position = place.position;
    packet.place.latest_ns = place.latest_ns;
    if (reads_headers_) pending_tcp_[at] = tcp;
    if (added_ - measured_ == pending_.size()) measure_oldest(key_of);
  }

  /// Whether a window ends before a packet of a flow that is not looked at: then all before are to be added and
  /// flushed.
  bool ends_shed_run(LinkPlace place) const noexcept {
    return std::ranges::any_of(windows_, [&](const auto& windows) { return windows->is_beyond(place); });
  }
  /// Whether parts of windows are told apart, so that runs of packets are of one packet.
  bool has_bins() const noexcept { return has_bins_; }

  /// Packets of flows that are not looked at, the last of which stands there: in order of time, and after none that is
  /// later, or one alone.
  void add_shed(const KeptOut& packets, LinkPlace last, FlowKeys key_of) noexcept;

  /// Another share of the flows is looked at, after flush().
  void sample_grew(const FlowSample& sample, std::uint32_t from_one_in) noexcept {
    if (states_) states_->sample_grew(sample, from_one_in);
  }
  void sample_changed() noexcept {
    for (const auto& windows : windows_) windows->sample_changed();
  }

  /// Measures all that was added.
  void flush(FlowKeys key_of) noexcept {
    while (measured_ != added_) measure_oldest(key_of);
    added_ = measured_ = 0;
  }

  // After flush(), of a row:

  /// `evicted`: for want of room.
  void flow_ended(std::uint32_t slot, const FlowKey& key, bool evicted) noexcept {
    if (rows_) rows_->flow_ended(slot);
    for (const auto& windows : windows_) windows->flow_ended(slot, key, evicted);
    if (tracker_) tracker_->flow_ended(slot);
  }
  /// After flow_ended(), where another record of the flow begins in the slot.
  void flow_goes_on(std::uint32_t slot, const FlowRecord& ended) noexcept {
    if (rows_) rows_->flow_goes_on(slot, ended);
  }
  /// Moves what tells directions apart to another slot of the table.
  void biflow_moved(std::uint32_t from, std::uint32_t to) noexcept { biflows_->move(from, to); }
  void flow_moved(std::uint32_t from, std::uint32_t to, const FlowKey& key) noexcept {
    if (rows_) rows_->move(from, to);
    if (tracker_) tracker_->flow_moved(from, to);
    for (const auto& windows : windows_) windows->flow_moved(from, to, key);
  }

  /// A slice of telling about windows; `drain` is called before one ends. Whether there is more to tell.
  template <class Drain>
  bool housekeep(LinkPlace now, FlowKeys key_of, Drain drain) noexcept {
    const LinkPlace link = later_of(now);
    const std::uint64_t packets = counted_ - std::exchange(kept_house_, counted_);
    bool more = false;
    for (const auto& windows : windows_) {
      if (windows->ends_at(link)) {
        drain();
        windows->advance(link, key_of);
        link_.latest_ns = link.latest_ns;  // states never fall behind windows
      }
      more |= windows->sweep(packets == 0 ? kTellRows : windows->rows_for(packets), key_of);
    }
    return more;
  }

  void finish(LinkPlace now, FlowKeys key_of) noexcept;

  RecordRing& messages() noexcept { return messages_; }

  /// Any thread.
  void stop_waiting() noexcept {
    if (states_) states_->stop_waiting();
  }

  /// Any thread. Null where nobody asked.
  const StageCost* cost(MeasureStage stage) const noexcept {
    return costs_ ? &(*costs_)[static_cast<std::size_t>(stage)] : nullptr;
  }

  /// Flows that left for want of room while a window had them, of the length that had most.
  std::uint64_t evicted() const noexcept {
    std::uint64_t most = 0;
    for (const auto& windows : windows_) most = std::max(most, windows->evicted());
    return most;
  }

  std::uint64_t dropped_segments() const noexcept { return tracker_ ? tracker_->dropped_segments() : 0; }
  std::vector<StatePackets> state_packets() const {
    std::vector<StatePackets> packets(states_ ? states_->size() : 0);
    fill(packets);
    return packets;
  }
  /// state_packets(), into as many.
  void fill(std::span<StatePackets> packets) const noexcept {
    for (std::size_t state = 0; state < packets.size(); ++state)
      packets[state] = {tracker_->state_packets(state), tracker_->kept_packets()[state]};
  }

  /// Null where no flow gives way.
  const ControlCounts* control() const noexcept { return control_ ? &control_->counts() : nullptr; }
  bool control_window_ends(LinkPlace now) const noexcept { return control_->due(later_of(now)); }
  /// After flush(). Of how many connections one is to be looked at from here on.
  std::uint32_t end_control_window(LinkPlace now, const WorkerLoad& load) noexcept;

  /// What a packet should take, but for inserting its flow; nothing where nobody knows.
  std::optional<double> packet_ns() const noexcept { return control_ ? control_->packet_ns() : std::nullopt; }

 private:
  static constexpr std::uint32_t kTellRows = 256;  ///< while no packet comes: some 30 us

  /// The next packet's place, with the latest time.
  LinkPlace note(const PacketFacts& facts, LinkPlace place) noexcept {
    place.latest_ns = link_.latest_ns = std::max({link_.latest_ns, place.latest_ns, facts.time_ns});
    link_.position = std::max(link_.position, place.position + 1);
    ++counted_;
    return place;
  }

  /// A packet that no flow has. Windows that it ends have all that came before.
  void add_kept_out(const PacketFacts& facts, LinkPlace place, FlowKeys key_of) noexcept;

  /// The directions of the packets' flows.
  void count_directions(std::span<RowUpdate> packets, FlowKeys key_of) noexcept;

  /// At most kStatBatch packets. Only the last call of flush(), which starts over, finds fewer: so measured_ is a
  /// multiple of kStatBatch, and none of its packets is behind the ring's end.
  void measure_oldest(FlowKeys key_of) noexcept;

  /// Commits all memory that packets touch: who cannot wait would lose some meanwhile.
  void populate() noexcept {
    for (const auto& windows : windows_) windows->populate();
    if (tracker_) tracker_->populate();
    if (biflows_) biflows_->populate();
  }

  /// Packets between which no monitoring state changes.
  void measure(std::span<const RowUpdate> packets, const TcpFacts* tcp, FlowKeys key_of) noexcept;

  StageCost::Timer time(MeasureStage stage, std::size_t packets) noexcept {
    return {timed_ ? &(*costs_)[static_cast<std::size_t>(stage)] : nullptr, packets};
  }

  void change_states(LinkPlace place, FlowKeys key_of) noexcept;

  /// Of the link as others see it and the packets that came here.
  LinkPlace later_of(LinkPlace now) const noexcept {
    return {std::max(now.position, link_.position), std::max(now.latest_ns, link_.latest_ns)};
  }

  std::unique_ptr<ClassJobs> jobs_;
  std::unique_ptr<Biflows> biflows_;
  std::unique_ptr<FlowRows> rows_;
  std::unique_ptr<FlowStates> states_;
  std::unique_ptr<FlowTracker> tracker_;
  std::unique_ptr<WorkerControl> control_;
  RecordRing messages_;
  std::vector<std::unique_ptr<WindowRows>> windows_;
  std::size_t slots_;  ///< rows
  bool follows_tcp_, reads_headers_, has_bins_, keeps_classes_, tells_kept_out_;

  static constexpr std::size_t kStages = 3, kTimedEvery = 15;  ///< prime to the batches of a poll
  std::unique_ptr<std::array<StageCost, kStages>> costs_;
  bool timed_ = false;
  std::uint64_t measured_batches_ = 0;
  std::uint64_t counted_ = 0, kept_house_ = 0;  ///< packets added, and up to the last housekeep()
  std::uint64_t missed_ = 0;                    ///< packets, by the device, up to the last control window's end

  std::array<RowUpdate, 2 * kStatBatch> pending_;  ///< a ring
  std::array<TcpFacts, 2 * kStatBatch> pending_tcp_;
  std::array<PacketFinding, kStatBatch> findings_;
  std::size_t added_ = 0, measured_ = 0;  ///< to pending_, and of it
  LinkPlace link_;                        ///< of the latest packet added
};

}  // namespace parshall
