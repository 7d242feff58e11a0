// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "base/huge_buffer.hpp"
#include "base/prefetch.hpp"
#include "pipeline/flow/flow_keys.hpp"
#include "pipeline/measure/flow_rows.hpp"
#include "pipeline/measure/slot_rows.hpp"
#include "pipeline/measure/windows/flow_measure.hpp"
#include "pipeline/measure/windows/row_pool.hpp"
#include "pipeline/measure/windows/window_plan.hpp"
#include "pipeline/measure/windows/window_row.hpp"
#include "pipeline/measure/windows/window_stream.hpp"

namespace parshall {

/// Counts of every flow in the open window, for windows of one length.
///
/// A flow's first packet in a window takes the next row of a RowPool. At the window's end, the rows go to the reader as
/// they are: nothing is searched or copied.
///
/// Flows that no task reads (WindowPlan::read) need no row: they are counted together, by state and weight.
///
/// Shape: row = 64 bytes and the measures', in whole cache lines, and a key of 40 bytes. Flows of states without
///        measures do not touch the measures' lines. There is a row for every flow that the table may hold, and at
///        least as many for rows that wait for their reader. Each slot has 8 bytes in SlotRows for the place of its
///        row, and another 8 if not all flows are read. Nothing is allocated after the constructor.
/// Full:  if few rows are free, those of flows that have ended are passed on before the window ends. If none is free, a
///        packet waits for the reader if the input can wait; otherwise its flow is unlisted: counted in the window's
///        totals as not reported. A worker waits if 64 windows are unread.
/// Merge: windows of the same number of several workers add up.
class WindowRows {
 public:
  /// `waiting_rows` may wait for the reader, if those are more than the flows.
  WindowRows(WindowPlan plan, std::uint32_t clock, SlotRows& slots, RecordRing& ring, bool can_wait,
             std::size_t waiting_rows = 0);

  /// Returns the bytes that it keeps in SlotRows, and in memory of its own.
  static std::size_t slot_bytes(const WindowPlan& plan) noexcept {
    return sizeof(RowPlace) + (plan.reads_all() ? 0 : sizeof(UnreadFlow));
  }
  static std::size_t memory_bytes(const WindowPlan& plan, std::size_t flows, std::size_t waiting_rows) noexcept {
    return RowPool::memory_bytes(rows_for(flows, waiting_rows), plan.measures->bytes()) +
           2 * (plan.bins() * sizeof(LinkBin) + plan.read.size() * sizeof(UnreadFlows));
  }

  void populate() noexcept { pool_.populate(); }

  /// Prefetches the rows of packets, whose SlotRows have been prefetched.
  void prefetch_rows(std::span<const RowUpdate> packets) const noexcept {
    const bool measured = plan_.by_state.size() == 1 && plan_.by_state[0] != 0;
    for (const RowUpdate& packet : packets)
      if (const RowPlace place = places_[packet.slot]; place.serial == open_->serial && place.row != RowPool::kNone)
        pool_.prefetch(place.row, measured);
  }
  /// Prefetches measures that depend on states, which are known only with the findings.
  void prefetch(std::span<const RowUpdate> packets, std::span<const PacketFinding> findings) const noexcept {
    if (plan_.by_state.size() == 1) return;
    for (std::size_t i = 0; i < findings.size(); ++i)
      if (const RowPlace place = places_[packets[i].slot]; plan_.by_state[findings[i].effective_state] != 0 &&
                                                           place.serial == open_->serial && place.row != RowPool::kNone)
        pool_.prefetch(place.row, /*measured=*/true);
  }

  /// Adds at most kStatBatch packets in order of arrival, with the findings on each. Findings are empty if no measure
  /// and no state needs them. `key_of(slot)` returns the slot's flow, here and below.
  void update(std::span<const RowUpdate> packets, std::span<const PacketFinding> findings, FlowKeys key_of) noexcept {
    const bool any_findings = !findings.empty();
    std::array<WindowRow*, kStatBatch> rows;
    std::size_t measured = 0;
    bool any_rows = false;
    const auto measure_until = [&](std::size_t end) {
      if (any_findings && any_rows) measure({&rows[measured], end - measured}, &findings[measured]);
      measured = end;
      any_rows = false;
    };
    for (std::size_t i = 0; i < packets.size(); ++i) {
      const RowUpdate& packet = packets[i];
      if (is_beyond(packet.place)) [[unlikely]] {
        measure_until(i);
        open(packet.place);
      }
      const StatePair states = any_findings ? StatePair{findings[i].state, findings[i].effective_state} : StatePair{};
      const std::uint8_t before = any_findings ? findings[i].effective_before : states.effective;
      const std::uint8_t weight = any_findings ? findings[i].weight : 0;
      add_to_totals(packet);
      if (!reads_all_ && count_unread(packet, states, weight)) {
        rows[i] = nullptr;
        continue;
      }
      WindowRow* row = nullptr;
      if (const RowPlace place = places_[packet.slot]; place.serial != open_->serial) [[unlikely]] {
        if (pool_.begins_chunk(open_->rows)) [[unlikely]]
          measure_until(i);  // rows may move
        row = begin(packet, states, before, weight, key_of);
      } else if (place.row != RowPool::kNone) [[likely]] {
        row = &pool_.row(place.row);
        if (StatePair{row->state, row->effective_state} != states) [[unlikely]] {
          measure_until(i);
          row = change_states(*row, packet, states, key_of);
        }
      }
      rows[i] = row;
      any_rows |= row != nullptr;
      if (row != nullptr) [[likely]]
        row->add(packet);
      else
        add_unlisted(packet);
    }
    measure_until(packets.size());
  }

  /// Returns whether a packet at `place` is beyond the open window.
  bool is_beyond(LinkPlace place) const noexcept { return length_.at(place) >= border_; }

  /// Adds a packet that the flood filter kept out. If it is beyond the open window, update() must have had all packets
  /// before it.
  void add_kept_out(const PacketFacts& facts, LinkPlace place) noexcept;

  /// Reports it instead as a flow of its own, marked as part of one.
  void tell_alone(const PacketFacts& facts, LinkPlace place) noexcept;

  /// Returns whether a window ends here, even without a packet of this worker. Before anything is known of the link,
  /// none does.
  bool ends_at(LinkPlace now) const noexcept { return length_.at(now) >= std::max(border_, std::uint64_t{1}); }
  void advance(LinkPlace now) noexcept {
    if (ends_at(now)) open(now);
  }

  /// Adds packets lost since the last call. If a window ended since then, they count in that one.
  void note_missed(std::uint64_t packets) noexcept {
    const bool ended = std::exchange(ended_since_missed_, false) && closing_->untold && closing_->serial != kNoWindow;
    (ended ? closing_ : open_)->totals.missed_packets += packets;
  }

  /// Moves to `now`. If the input can wait, everything about windows below `window` is reported when it returns.
  void settle_below(std::uint64_t window, LinkPlace now) noexcept {
    advance(now);
    if (!can_wait_) return;
    while (!tell_ends()) wait();
    if (closing_->untold && (closing_->number < window || closing_->serial == kNoWindow))
      while (tell()) wait();
  }

  std::uint64_t rows_begun() const noexcept { return rows_begun_; }

  /// Reports what is left of the last window. Returns true while there is more to report.
  bool tell() noexcept {
    if (!closing_->untold) return !tell_ends();
    if (!tell_rows() || !tell_bins(kTellChunks) || !tell_unread()) return true;
    closing_->untold = !queue_end();
    return !tell_ends() || closing_->untold;
  }

  /// Ends the flow's record, evicted or not; its slot may be reused.
  void flow_ended(std::uint32_t slot, bool evicted = false) noexcept;

  /// Returns how many flows of an open window were evicted.
  std::uint64_t evicted() const noexcept { return evicted_; }
  void flow_moved(std::uint32_t from, std::uint32_t to) noexcept;

  /// Ends the input, and with it the open window.
  void finish(LinkPlace end) noexcept {
    if (open_->serial != kNoWindow) {
      open_->totals.partial |= !ends_at(end);
      close();
    }
    open_->number = WindowEnd::kAll;
    open_->serial = kNoWindow;  // its rows are passed on
    if (!closing_->untold) closing_->restart(WindowEnd::kAll, kNoWindow, /*is_untold=*/true);
    while (tell()) wait();
    border_ = WindowLength::kNoBorder;
  }

 private:
  static constexpr std::uint32_t kAllChunks = ~std::uint32_t{0};
  static constexpr std::uint32_t kTellChunks = 64;  ///< chunks of bins in a slice: some microseconds
  static constexpr std::uint32_t kNoSlot = ~std::uint32_t{0};
  static constexpr std::uint32_t kFewEnded = 8;  ///< rows that may be moved for each that is passed on
  static constexpr int kPassedAtOnce = 2;        ///< chunks of which a packet waits for at most

  static std::size_t rows_for(std::size_t flows, std::size_t waiting) noexcept {
    return flows + std::max(flows, waiting);  // an unread window and the open one always fit
  }

  [[gnu::noinline]] void open(LinkPlace place) noexcept {
    const bool first = open_->serial == kNoWindow;
    if (!first) close();
    begin_window(place);
    if (first) closing_->restart(open_->number, kNoWindow, /*is_untold=*/true);  // reports no earlier window
  }

  /// Makes the open window the last one. First reports the rest of the previous last window.
  void close() noexcept {
    while (closing_->untold && !tell_rows()) {
      if (!can_wait_) drop_rows();
      wait();
    }
    while (closing_->untold && !tell_bins(kAllChunks)) {
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
    tell_ends();  // before these rows, so that the reader need not keep them
    std::swap(open_, closing_);
    closing_->untold = true;
    ended_since_missed_ = true;
    tell_rows();
  }

  /// Counts a packet of a flow that no task reads. Returns false if the flow has or needs a row in the open window,
  /// because it was read before or its state changed.
  [[gnu::always_inline]] bool count_unread(const RowUpdate& packet, StatePair states, std::uint8_t weight) noexcept {
    if (plan_.reads(states.own, states.effective)) return false;
    UnreadFlow& flow = unread_[packet.slot];
    UnreadFlows& flows = open_->unread[states.own];
    const bool is_first = flow.serial != open_->serial;
    if (!is_first && (flow.has_row || flow.state != states.own)) [[unlikely]]
      return false;
    const UnreadFlow first{
        .serial = open_->serial, .state = states.own, .weight = weight, .starts = packet.starts_flow};
    flow = is_first ? first : flow;
    flows.add_flow_if(is_first, weight, packet.starts_flow);
    flows.add(packet.counts);
    return true;
  }

  /// Gives the flow a row. If the open window counted it with others so far, it continues as one flow in the row; with
  /// another state than before, as one flow of each state.
  void take_from_unread(WindowRow& row, const RowUpdate& packet) noexcept {
    UnreadFlow& flow = unread_[packet.slot];
    if (flow.serial == open_->serial && !flow.has_row) {
      if (flow.state == row.state) {
        open_->unread[flow.state].remove_flow(flow.weight, flow.starts);
        row.starts = flow.starts;
        row.weight = flow.weight;
      } else {
        row.earlier_states |= std::uint64_t{1} << flow.state;
      }
    }
    flow = {.serial = open_->serial, .state = row.state, .has_row = true};
  }

  /// Begins the flow's row. Returns null if none is free: the flow is then unlisted.
  [[gnu::noinline]] WindowRow* begin(const RowUpdate& packet, StatePair states, std::uint8_t before,
                                     std::uint8_t weight, FlowKeys key_of) noexcept {
    const std::uint32_t at = append_row();
    places_[packet.slot] = {open_->serial, at};
    if (at == RowPool::kNone) {
      ++open_->totals.unlisted_flows;
      WindowRow none{.state = states.own};
      if (!reads_all_) take_from_unread(none, packet);
      return nullptr;
    }
    new (&pool_.key(at)) FlowKey(key_of(packet.slot));  // in place: a copy would wait for all stores before it
    WindowRow& row = pool_.row(at);
    row = {.slot = packet.slot,
           .state = states.own,
           .effective_state = states.effective,
           // A lighter state before this packet did not collect what the measures need.
           .other_state =
               (plan_.measures_of(states.effective) & ~plan_.measures_of(before)) != 0 ? before : states.effective,
           .weight = weight,
           .starts = packet.starts_flow,
           .first_ns = packet.time_ns};
    if (!reads_all_) take_from_unread(row, packet);
    begin_measures(row);
    return &row;
  }

  /// Clears the measures. Flows in light states without measures do not touch their cache lines.
  void begin_measures(WindowRow& row) noexcept {
    if (row.is_measured || plan_.measures_of(row.effective_state) == 0) return;
    row.is_measured = true;
    std::memset(row.measured(), 0, plan_.measures->bytes());
  }

  /// Changes states. A flow that is reduced, or restored, keeps its row; one with another own state begins another one,
  /// which is null if none is free.
  [[gnu::noinline]] WindowRow* change_states(WindowRow& row, const RowUpdate& packet, StatePair states,
                                             FlowKeys key_of) noexcept {
    if (row.state == states.own) {
      row.more_states |= row.other_state != row.effective_state;
      row.effective_state = states.effective;
      begin_measures(row);
      return &row;
    }
    const std::uint64_t earlier = row.earlier_states | std::uint64_t{1} << row.state;
    end_row(std::exchange(places_[packet.slot], {}).row);
    WindowRow* const next = begin(packet, states, states.effective, row.weight, key_of);
    if (next != nullptr) next->earlier_states = earlier;
    return next;
  }

  /// Returns a new row of the open window, or kNone.
  std::uint32_t append_row() noexcept {
    ++rows_begun_;
    if (pool_.begins_chunk(open_->rows)) [[unlikely]]
      pass_on_ended();
    const std::uint32_t at = pool_.append(open_->rows);
    open_rows_ += at != RowPool::kNone;
    return at == RowPool::kNone ? append_when_full() : at;
  }
  std::uint32_t append_when_full() noexcept;
  void end_row(std::uint32_t at) noexcept {
    pool_.end_row(at);
    ++ended_rows_;
  }
  void pass_on_ended() noexcept;
  bool pass_on_first() noexcept;
  bool is_live(std::uint32_t row) const noexcept {
    const std::uint32_t slot = pool_.row(row).slot;
    return slot != kNoSlot && places_[slot].serial == open_->serial && places_[slot].row == row;
  }

  void add_unlisted(const RowUpdate& packet) noexcept {
    ++open_->totals.unlisted_packets;
    open_->totals.unlisted_wire_bytes += packet.wire_bytes();
  }
  void unlist(const RowList& rows, WindowTotals& totals) noexcept;

  bool has_measures(const WindowRow* row, const PacketFinding& finding) const noexcept {
    return row != nullptr && (reads_all_ || plan_.reads(finding.state, finding.effective_state)) &&
           plan_.measures_of(finding.effective_state) != 0;
  }
  /// Updates the measures. `rows` are those of the packets' flows, or null.
  void measure(std::span<WindowRow* const> rows, const PacketFinding* findings) noexcept;

  void begin_window(LinkPlace place) noexcept;
  bool push(const RowList& rows, const WorkerWindow& window) noexcept;
  bool tell_rows() noexcept;
  void drop_rows() noexcept;
  void add_to_totals(const RowUpdate& packet) noexcept {
    open_->totals.late_packets += packet.time_ns < not_late_ns_;
    open_->totals.add(packet.counts, packet.time_ns);
    if (plan_.bin_ns != 0) add_to_bin({1, packet.wire_bytes()}, packet.time_ns);
  }
  void add_to_bin(const LinkBin& packets, std::uint64_t time_ns) noexcept;
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
  RecordRing& ring_;
  bool can_wait_;
  RowPool pool_;
  SlotColumn<RowPlace> places_;
  bool reads_all_;
  SlotColumn<UnreadFlow> unread_;  ///< none if all flows are read
  std::array<WorkerWindow, 2> windows_;
  std::array<std::pair<std::uint64_t, WindowEnd>, 64> ends_{};  ///< a ring of ends to report, by window
  std::size_t ends_queued_ = 0, ends_told_ = 0;
  WorkerWindow *open_ = &windows_[0], *closing_ = &windows_[1];
  std::uint32_t last_serial_ = kNoWindow;
  bool ended_since_missed_ = false;
  std::uint64_t open_rows_ = 0, ended_rows_ = 0;  ///< rows of the open window, and those of them whose flows ended
  std::uint64_t rows_begun_ = 0, evicted_ = 0;
  std::uint64_t border_ = 0;       ///< end of the open window
  std::uint64_t not_late_ns_ = 0;  ///< packets with an earlier time are late
};

}  // namespace parshall
