// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/huge_buffer.hpp"
#include "base/prefetch.hpp"
#include "pipeline/flow/flow_keys.hpp"
#include "pipeline/flow/flow_sample.hpp"
#include "pipeline/flow/kept_out.hpp"
#include "pipeline/measure/flow_rows.hpp"
#include "pipeline/measure/windows/flow_measure.hpp"
#include "pipeline/measure/windows/window_plan.hpp"
#include "pipeline/measure/windows/window_row.hpp"
#include "pipeline/measure/windows/window_stream.hpp"

namespace parshall {

/// What every flow does in the window that is open, for windows of one length: a row per slot, beside the table.
///
/// When a window has ended, what its flows did is told to a ring: by sweep(), which goes through the rows that the
/// window touched a slice at a time between batches, or with a flow's next packet. So no packet waits for a window.
///
/// Flows at which no task looks (WindowPlan::read) take no row: they are counted together, by state and weight.
///
/// Shape: row = 64 bytes and the measures', in whole cache lines, which flows of states without measures leave alone; 8
///        bytes more for the lists of rows that the open and the last window touched, and 8 where not all flows are
///        looked at. Nothing is allocated after the constructor.
/// Full:  without room in the ring a sweep goes on later. What must be told at once waits, where the input can; else
///        it is unlisted: in the window's totals, and counted there as told to nobody. A worker waits where nobody
///        has read for 64 windows.
/// Merge: windows of the same number of several workers add up.
class WindowRows {
 public:
  enum class Flowless : std::uint8_t {
    kept_out,
    shed
  };  ///< why a packet has no flow: by the flood filter, or for time

  /// `sample`: which flows are looked at; null: all.
  WindowRows(WindowPlan plan, std::uint32_t clock, std::size_t slots, RecordRing& ring, bool can_wait,
             const FlowSample* sample = nullptr);

  static std::size_t memory_bytes(const WindowPlan& plan, std::size_t slots) noexcept {
    return slots *
               (stride_of(*plan.measures) + 2 * sizeof(std::uint32_t) + (plan.reads_all() ? 0 : sizeof(UnreadFlow))) +
           2 * (plan.bins() * sizeof(LinkBin) + plan.read.size() * sizeof(UnreadFlows));
  }

  void populate() noexcept {
    rows_.populate();
    unread_.populate();
    for (Turn& turn : turns_) turn.slots.populate();
  }

  void prefetch(std::uint32_t slot) const noexcept {
    if (!reads_all_) return prefetch_line(&unread_[slot]);
    const std::byte* const row = rows_.data() + slot * stride_;
    prefetch_line(row);
    if (plan_.by_state.size() == 1 && stride_ > sizeof(Row)) prefetch_line(row + sizeof(Row));
  }
  /// What goes by states: which those are is known once findings are.
  void prefetch(std::span<const RowUpdate> packets, std::span<const PacketFinding> findings) const noexcept {
    if (plan_.by_state.size() == 1) return;
    for (std::size_t i = 0; i < findings.size(); ++i) {
      const std::byte* const row = rows_.data() + packets[i].slot * stride_;
      if (!reads_all_ && plan_.reads(findings[i].state, findings[i].effective_state)) prefetch_line(row);
      if (plan_.by_state[findings[i].effective_state] != 0) prefetch_line(row + sizeof(Row));
    }
  }

  /// At most kStatBatch packets in order of arrival, and what was found out about each; nothing where no measure and no
  /// state asks. `key_of(slot)` is the slot's flow, here and below.
  void update(std::span<const RowUpdate> packets, std::span<const PacketFinding> findings, FlowKeys key_of) noexcept {
    const bool any_findings = !findings.empty();
    std::size_t measured = 0;
    const auto measure_until = [&](std::size_t end) {
      if (any_findings) measure(packets.subspan(measured, end - measured), findings.subspan(measured, end - measured));
      measured = end;
    };
    for (std::size_t i = 0; i < packets.size(); ++i) {
      const RowUpdate& packet = packets[i];
      if (is_beyond(packet.place)) [[unlikely]] {
        measure_until(i);
        open(packet.place, key_of);
      }
      Row& row = row_of(packet.slot);
      const StatePair states = any_findings ? StatePair{findings[i].state, findings[i].effective_state} : StatePair{};
      const std::uint8_t before = any_findings ? findings[i].effective_before : states.effective;
      const std::uint8_t weight = any_findings ? findings[i].weight : 0;
      if (!reads_all_ && count_unread(packet, states, weight, key_of)) {
        add_to_totals(packet);
        continue;
      }
      if (row.turn != open_->turn) [[unlikely]] {
        begin(row, packet, states, before, weight, key_of);
      } else if (row.states() != states) [[unlikely]] {
        measure_until(i);
        change_states(row, packet, states, key_of);
      }
      row.add(packet);
      add_to_totals(packet);
    }
    measure_until(packets.size());
  }

  /// Whether the packet there is the first after the open window.
  bool is_beyond(LinkPlace place) const noexcept { return length_.at(place) >= border_; }

  /// Packets that no flow has, the last of which stands there: one, or several between which no window and no part of
  /// one ends, in order of time. Where they are beyond the open window, update() has had all before.
  void add_flowless(Flowless why, const KeptOut& packets, LinkPlace last, FlowKeys key_of) noexcept {
    if (is_beyond(last)) open(last, key_of);
    WindowTotals& totals = open_->totals;
    totals.add(packets);
    totals.late_packets += packets.first_ns < not_late_ns_;
    if (plan_.bin_ns != 0) add_to_bin({packets.packets, packets.wire_bytes}, packets.first_ns);
    (why == Flowless::shed ? totals.shed_packets : totals.kept_out_packets) += packets.packets;
    (why == Flowless::shed ? totals.shed_wire_bytes : totals.kept_out_wire_bytes) += packets.wire_bytes;
  }

  /// Tells of a packet that the flood filter kept out as of a flow of its own, which is part of one. update() has had
  /// all before, where it is beyond the open window.
  void tell_alone(const PacketFacts& facts, LinkPlace place, FlowKeys key_of) noexcept;

  /// From here on, though the open window may be one before. A window's sample is its smallest.
  void sample_changed() noexcept {
    open_->totals.one_in = std::max(open_->totals.one_in, sample_->one_in());
    open_->least_one_in = std::min(open_->least_one_in, sample_->one_in());
  }

  /// Whether a window ends here, though no packet of this worker may have come. None does where nothing is known of the
  /// link yet.
  bool ends_at(LinkPlace now) const noexcept { return length_.at(now) >= std::max(border_, std::uint64_t{1}); }
  void advance(LinkPlace now, FlowKeys key_of) noexcept {
    if (ends_at(now)) open(now, key_of);
  }

  /// So many packets were lost since this was last called: where a window ended meanwhile, they are of that one.
  void note_missed(std::uint64_t packets) noexcept {
    const bool ended = std::exchange(ended_since_missed_, false) && closing_->untold && closing_->turn != kNoTurn;
    (ended ? closing_ : open_)->totals.missed_packets += packets;
  }

  /// Goes to `now`, and, where the input can wait, has told all of windows below `window` when it returns.
  void settle_below(std::uint64_t window, LinkPlace now, FlowKeys key_of) noexcept {
    advance(now, key_of);
    if (!can_wait_) return;
    while (!tell_ends()) wait();
    if (closing_->untold && (closing_->number < window || closing_->turn == kNoTurn))
      while (sweep(kAllRows, key_of)) wait();
  }

  /// How many rows of the last window are to be told with so many packets, so that all are, and its end, when half as
  /// many have come as that window had: more at once would hold up the packets of the open one.
  std::uint32_t rows_for(std::uint64_t packets) const noexcept {
    const std::uint64_t within = closing_->totals.packets * 2 / 5 + 1;
    return static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(closing_->listed * packets / within + 1, kFewestRows, kAllRows));
  }

  std::uint64_t rows_begun() const noexcept { return rows_begun_; }

  /// Tells of at most `most` rows of the last window, and of its end. True while there is more to tell.
  bool sweep(std::uint32_t most, FlowKeys key_of) noexcept {
    if (!closing_->untold) return !tell_ends();
    for (std::uint32_t count; closing_->told != closing_->listed; most -= count) {
      if (most == 0) return true;
      count = std::min({most, closing_->listed - closing_->told, kToldAtOnce});
      if (!tell_listed(count, key_of)) return true;
    }
    if (!tell_bins(kTellChunks) || !tell_unread()) return true;
    closing_->untold = !queue_end();
    return !tell_ends() || closing_->untold;
  }

  /// The flow's record ends, for want of room or not, and its slot may be used again.
  void flow_ended(std::uint32_t slot, const FlowKey& key, bool evicted = false) noexcept;

  /// Flows of an open window whose record ended for want of room.
  std::uint64_t evicted() const noexcept { return evicted_; }
  void flow_moved(std::uint32_t from, std::uint32_t to, const FlowKey& key) noexcept;

  /// The input is at its end, and so is the open window.
  void finish(LinkPlace end, FlowKeys key_of) noexcept {
    if (open_->turn != kNoTurn) {
      open_->totals.partial |= !ends_at(end);
      close(key_of);
    }
    open_->number = WindowEnd::kAll;
    if (!closing_->untold) closing_->restart(WindowEnd::kAll, kNoTurn, /*is_untold=*/true, one_in());
    while (sweep(kAllRows, key_of)) wait();
    border_ = WindowLength::kNoBorder;
  }

 private:
  using Row = WindowRow;
  using Turn = WindowTurn;
  static constexpr std::uint32_t kAllRows = ~std::uint32_t{0};
  static constexpr std::uint32_t kFewestRows = 32;  ///< told in a slice: fewer packets may come than came before
  static constexpr std::uint32_t kToldAtOnce = 16;  ///< rows, whose keys come from memory together
  static constexpr std::uint32_t kTellChunks = 64;  ///< of bins in a slice: some microseconds

  [[gnu::noinline]] void open(LinkPlace place, FlowKeys key_of) noexcept {
    const bool first = open_->turn == kNoTurn;
    if (!first) close(key_of);
    begin_window(place);
    if (first) closing_->restart(open_->number, kNoTurn, /*is_untold=*/true, one_in());  // that nothing comes before it
  }

  /// The open window becomes the last one. What is not told yet of the one before is told now.
  void close(FlowKeys key_of) noexcept {
    for (; closing_->told != closing_->listed; ++closing_->told) {
      const std::uint32_t slot = closing_->slots[closing_->told];
      Row& row = row_of(slot);
      if (row.turn == closing_->turn) tell_now(row, key_of(slot), *closing_);
    }
    while (closing_->untold && !tell_bins(kAllRows)) {
      if (!can_wait_) drop_bins();
      wait();
    }
    while (closing_->untold && !tell_unread()) {
      if (!can_wait_) drop_unread();
      wait();
    }
    while (closing_->untold && !queue_end()) {
      wait();
      tell_ends();
    }
    std::swap(open_, closing_);
    closing_->untold = true;
    ended_since_missed_ = true;
  }

  /// A packet of a flow at which no task looks. False where the open window has its row, or has to: the flow was looked
  /// at, or is in another state than it was.
  [[gnu::always_inline]] bool count_unread(const RowUpdate& packet, StatePair states, std::uint8_t weight,
                                           FlowKeys key_of) noexcept {
    if (plan_.reads(states.own, states.effective)) return false;
    UnreadFlow& flow = unread_[packet.slot];
    UnreadFlows& flows = open_->unread[states.own];
    if (flow.turn != open_->turn) [[unlikely]] {
      flow = {.turn = open_->turn, .state = states.own, .weight = weight, .starts = packet.starts_flow};
      flows.add_flow(weight, packet.starts_flow, stands_for(packet.slot, key_of));
    } else if (flow.has_row || flow.state != states.own) [[unlikely]] {
      return false;
    }
    flows.add(packet.counts);
    return true;
  }

  /// The flow has a row from here on. Where the open window has counted it with others so far, it goes on there as one
  /// flow; or, of another state than it was, as one of each.
  void take_from_unread(Row& row, const RowUpdate& packet, FlowKeys key_of) noexcept {
    UnreadFlow& flow = unread_[packet.slot];
    if (flow.turn == open_->turn && !flow.has_row) {
      if (flow.state == row.state) {
        open_->unread[flow.state].add_flow(flow.weight, flow.starts, stands_for(packet.slot, key_of), -1);
        row.starts = flow.starts;
        row.weight = flow.weight;
      } else {
        row.earlier_states |= std::uint64_t{1} << flow.state;
      }
    }
    flow = {.turn = open_->turn, .state = row.state, .has_row = true};
  }

  /// Of a flow of the open window: as many as there are connections for one that is looked at. None where only a larger
  /// sample of the window has it.
  double stands_for(std::uint32_t slot, FlowKeys key_of) const noexcept {
    const std::uint32_t one_in = open_->totals.one_in;
    return one_in == open_->least_one_in || sample_->takes(key_of(slot), one_in) ? one_in : 0;
  }

  [[gnu::noinline]] void begin(Row& row, const RowUpdate& packet, StatePair states, std::uint8_t before,
                               std::uint8_t weight, FlowKeys key_of) noexcept {
    if (row.turn != kNoTurn) tell_now(row, key_of(packet.slot), *closing_);
    ++rows_begun_;
    row = {.turn = open_->turn,
           .listed = row.listed,
           .first_ns = packet.time_ns,
           .state = states.own,
           .effective_state = states.effective,
           // What measures go by was not seen, if it was lighter.
           .other_state =
               (plan_.measures_of(states.effective) & ~plan_.measures_of(before)) != 0 ? before : states.effective,
           .weight = weight,
           .starts = packet.starts_flow};
    if (!reads_all_) take_from_unread(row, packet, key_of);
    begin_measures(row);
    list(row, packet.slot);
  }

  /// Flows without any, of light states, leave the lines of their measures alone.
  void begin_measures(Row& row) noexcept {
    if (row.is_measured || plan_.measures_of(row.effective_state) == 0) return;
    row.is_measured = true;
    std::memset(row.measured(), 0, plan_.measures->bytes());
  }

  /// A flow that gives way, or need not any more, goes on in its row; one of another state begins another part.
  [[gnu::noinline]] void change_states(Row& row, const RowUpdate& packet, StatePair states, FlowKeys key_of) noexcept {
    if (row.state == states.own) {
      row.more_states |= row.other_state != row.effective_state;
      row.effective_state = states.effective;
      begin_measures(row);
      return;
    }
    const std::uint64_t earlier = row.earlier_states | std::uint64_t{1} << row.state;
    const std::uint8_t weight = row.weight;
    tell_now(row, key_of(packet.slot), *open_);
    begin(row, packet, states, states.effective, weight, key_of);
    row.earlier_states = earlier;
  }

  Row& row_of(std::uint32_t slot) noexcept { return *reinterpret_cast<Row*>(rows_.data() + slot * stride_); }
  static std::size_t stride_of(const MeasureSet& measures) noexcept {
    return (sizeof(Row) + measures.bytes() + 63) / 64 * 64;
  }
  void measure(std::span<const RowUpdate> packets, std::span<const PacketFinding> findings) noexcept;
  std::uint64_t measures_of(const PacketFinding& finding) const noexcept {
    if (!reads_all_ && !plan_.reads(finding.state, finding.effective_state)) return 0;  // it has no row
    return plan_.by_state[plan_.by_state.size() == 1 ? 0 : finding.effective_state];
  }

  std::uint32_t one_in() const noexcept { return sample_ == nullptr ? 1 : sample_->one_in(); }
  void begin_window(LinkPlace place) noexcept;
  void list(Row& row, std::uint32_t slot) noexcept;
  bool tell(const Row& row, const FlowKey& key, const Turn& turn, bool is_part = false) noexcept;
  void tell_now(Row& row, const FlowKey& key, Turn& turn, bool is_part = false) noexcept;
  void add_to_totals(const RowUpdate& packet) noexcept {
    open_->totals.late_packets += packet.time_ns < not_late_ns_;
    open_->totals.add(packet.counts, packet.time_ns);
    if (plan_.bin_ns != 0) add_to_bin({1, packet.wire_bytes()}, packet.time_ns);
  }
  void add_to_bin(const LinkBin& packets, std::uint64_t time_ns) noexcept;
  bool tell_listed(std::uint32_t count, FlowKeys key_of) noexcept;
  bool tell_bins(std::uint32_t most_chunks) noexcept;
  void drop_bins() noexcept;
  bool tell_unread() noexcept;
  void drop_unread() noexcept;
  bool queue_end() noexcept;
  bool tell_ends() noexcept;
  static void wait() noexcept;

  WindowPlan plan_;
  WindowLength length_;
  std::uint32_t clock_;
  std::size_t stride_;
  RecordRing& ring_;
  bool can_wait_;
  const FlowSample* sample_;
  HugeBuffer<std::byte> rows_;
  bool reads_all_;
  HugeBuffer<UnreadFlow> unread_;  ///< by slot; none where all flows are looked at
  std::array<Turn, 2> turns_;
  std::array<std::pair<std::uint64_t, WindowEnd>, 64> ends_{};  ///< by window; a ring of those still to be told
  std::size_t ends_queued_ = 0, ends_told_ = 0;
  Turn *open_ = &turns_[0], *closing_ = &turns_[1];
  std::uint32_t last_turn_ = kNoTurn;
  bool ended_since_missed_ = false;
  std::uint64_t rows_begun_ = 0, evicted_ = 0;
  std::uint64_t border_ = 0;       ///< where the open window ends
  std::uint64_t not_late_ns_ = 0;  ///< packets from before this are late
};

}  // namespace parshall
