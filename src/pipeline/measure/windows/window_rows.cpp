// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/windows/window_rows.hpp"

#include <sched.h>

namespace parshall {
namespace {

/// Some packets of a batch, in order.
class Choice {
 public:
  /// Without a branch, which would be unpredictable.
  void add_if(bool is_chosen, std::size_t packet) noexcept {
    packets_[count_] = static_cast<std::uint8_t>(packet);
    count_ += is_chosen;
  }
  void clear() noexcept { count_ = 0; }
  std::span<const std::uint8_t> packets() const noexcept { return std::span(packets_).first(count_); }

 private:
  std::array<std::uint8_t, kStatBatch> packets_;
  std::size_t count_ = 0;
};

/// Chooses those of `packets` that change a measure.
std::span<const std::uint8_t> choose(std::span<const std::uint8_t> packets, MeasuredPackets measured,
                                     const PacketFinding* findings, Choice& chosen) noexcept {
  chosen.clear();
  switch (measured) {
    case MeasuredPackets::all:
      return packets;
    case MeasuredPackets::with_round_trip:
      for (const std::uint8_t i : packets) chosen.add_if(findings[i].tcp.rtt_ns != TcpFinding::kNone, i);
      break;
    case MeasuredPackets::with_mark:
      for (const std::uint8_t i : packets) chosen.add_if(findings[i].tcp.marks.bits() != 0, i);
      break;
    case MeasuredPackets::with_handshake:
      for (const std::uint8_t i : packets) chosen.add_if(findings[i].tcp.handshake_ns != TcpFinding::kNone, i);
      break;
  }
  return chosen.packets();
}

}  // namespace

WindowRows::WindowRows(WindowPlan plan, std::uint32_t clock, SlotRows& slots, RecordRing& ring, bool can_wait,
                       std::size_t waiting_rows)
    : plan_(std::move(plan)),
      length_(plan_.length),
      clock_(clock),
      ring_(ring),
      can_wait_(can_wait),
      pool_(rows_for(slots.most_used(), waiting_rows), plan_.measures->bytes()),
      places_(slots.add<RowPlace>()),
      reads_all_(plan_.reads_all()),
      unread_(reads_all_ ? SlotColumn<UnreadFlow>() : slots.add<UnreadFlow>()) {
  for (WorkerWindow& window : windows_) {
    window.unread.resize(plan_.read.size());
    window.bins.resize(plan_.bins());
  }
}

void WindowRows::begin_window(LinkPlace place) noexcept {
  const std::uint64_t number = length_.number(place);
  if (++last_serial_ == kNoWindow) ++last_serial_;
  open_->restart(number, last_serial_, /*is_untold=*/false);
  open_rows_ = ended_rows_ = 0;
  border_ = length_.end_of(number);
  not_late_ns_ = length_.unit == WindowLength::Unit::ns ? length_.begin_of(number) : 0;
}

void WindowRows::flow_ended(std::uint32_t slot, bool evicted) noexcept {
  if (!reads_all_) unread_[slot].serial = kNoWindow;
  const RowPlace place = std::exchange(places_[slot], {});
  if (place.serial != open_->serial || place.serial == kNoWindow) return;
  evicted_ += evicted;
  if (place.row == RowPool::kNone) return;
  pool_.row(place.row).is_part = evicted;
  end_row(place.row);
}

void WindowRows::flow_moved(std::uint32_t from, std::uint32_t to) noexcept {
  if (!reads_all_) unread_[to] = std::exchange(unread_[from], {});
  const RowPlace place = places_[to] = std::exchange(places_[from], {});
  if (place.serial == open_->serial && place.serial != kNoWindow && place.row != RowPool::kNone)
    pool_.row(place.row).slot = to;
}

/// Waits for a row, or returns kNone if the input cannot wait.
std::uint32_t WindowRows::append_when_full() noexcept {
  while (can_wait_) {
    tell();
    wait();
    pass_on_ended();
    if (const std::uint32_t at = pool_.append(open_->rows); at != RowPool::kNone) {
      ++open_rows_;
      return at;
    }
  }
  return RowPool::kNone;
}

/// Passes on rows of the open window whose flows have ended, while few rows are free.
void WindowRows::pass_on_ended() noexcept {
  for (int i = 0; i < kPassedAtOnce && pool_.begins_chunk(open_->rows) && pool_.is_low(); ++i) {
    if (ended_rows_ * kFewEnded < open_rows_ || !pool_.can_compact(open_->rows)) return;
    pool_.skip_live(open_->rows, kFewEnded);
    if (!pass_on_first()) return;
  }
}

/// Passes on the ended flows' rows of the first chunk, and moves the others to the end. Returns false if the ring was
/// full: the rows are then unlisted.
bool WindowRows::pass_on_first() noexcept {
  RowList ended = pool_.compact(
      open_->rows, [&](std::uint32_t row) { return is_live(row); },
      [&](std::uint32_t row, std::uint32_t to) { places_[pool_.row(row).slot].row = to; });
  if (ended.empty()) return true;
  std::uint64_t rows = 0;
  pool_.visit(ended, [&](const WindowRow&, const FlowKey&) { ++rows; });
  open_rows_ -= rows;
  ended_rows_ -= rows;
  while (!push(ended, *open_)) {
    if (!can_wait_) {
      unlist(ended, open_->totals);
      pool_.drop(ended);
      return false;
    }
    wait();
  }
  return true;
}

/// Counts rows that are not reported.
void WindowRows::unlist(const RowList& rows, WindowTotals& totals) noexcept {
  pool_.visit(rows, [&](const WindowRow& row, const FlowKey&) {
    totals.unlisted_packets += row.packets;
    totals.unlisted_wire_bytes += row.wire_bytes;
    ++totals.unlisted_flows;
  });
}

/// Passes the packets to the measures of their flows' states. It first lists the packets that have any, since a branch
/// on this would be unpredictable.
void WindowRows::measure(std::span<WindowRow* const> rows, const PacketFinding* findings) noexcept {
  Choice all, of_kind, of_state;
  for (std::size_t i = 0; i < rows.size(); ++i) all.add_if(has_measures(rows[i], findings[i]), i);
  MeasuredPackets kind = MeasuredPackets::all;
  std::span<const std::uint8_t> packets = all.packets();
  if (packets.empty()) return;
  for (std::size_t m = 0; m < plan_.measures->measures().size(); ++m) {
    const auto& [measure, offset, measured] = plan_.measures->measures()[m];
    if (std::exchange(kind, measured) != measured) packets = choose(all.packets(), measured, findings, of_kind);
    std::span<const std::uint8_t> chosen = packets;
    if (plan_.by_state.size() != 1) {
      of_state.clear();
      for (const std::uint8_t i : packets) of_state.add_if(plan_.by_state[findings[i].effective_state] >> m & 1, i);
      chosen = of_state.packets();
    } else if ((plan_.by_state[0] >> m & 1) == 0) {
      continue;
    }
    if (!chosen.empty()) measure->update({findings, rows.data(), chosen, offset});
  }
}

bool WindowRows::push(const RowList& rows, const WorkerWindow& window) noexcept {
  const RowsMessage message{{WindowMessage::Kind::rows, clock_, window.number}, &pool_, rows};
  return ring_.push(bytes_of(message), {});
}

/// Reports the last window's rows. Returns whether they are reported.
bool WindowRows::tell_rows() noexcept {
  if (!closing_->rows.empty() && !push(closing_->rows, *closing_)) return false;
  closing_->rows = {};
  return true;
}

/// Drops the rows for which there is no room.
void WindowRows::drop_rows() noexcept {
  unlist(closing_->rows, closing_->totals);
  pool_.drop(closing_->rows);
}

void WindowRows::add_kept_out(const PacketFacts& facts, LinkPlace place) noexcept {
  if (is_beyond(place)) open(place);
  const RowUpdate packet{.counts = facts.counts, .time_ns = facts.time_ns, .place = place};
  add_to_totals(packet);
  ++open_->totals.kept_out_packets;
  open_->totals.kept_out_wire_bytes += packet.wire_bytes();
}

void WindowRows::tell_alone(const PacketFacts& facts, LinkPlace place) noexcept {
  if (is_beyond(place)) open(place);
  const RowUpdate packet{.counts = facts.counts, .time_ns = facts.time_ns, .place = place};
  add_to_totals(packet);
  const std::uint32_t at = append_row();
  if (at == RowPool::kNone) {
    ++open_->totals.unlisted_flows;
    return add_unlisted(packet);
  }
  end_row(at);
  WindowRow& row = pool_.row(at);
  row = {.slot = kNoSlot, .starts = true, .is_part = true, .first_ns = facts.time_ns};
  row.add(packet);
  pool_.key(at) = facts.key;
}

/// Adds to a bin. A late packet from before the window counts in the first bin.
void WindowRows::add_to_bin(const LinkBin& packets, std::uint64_t time_ns) noexcept {
  const std::uint64_t since_ns = time_ns > not_late_ns_ ? time_ns - not_late_ns_ : 0;
  // The latest time of all may be after the last window's end.
  open_->bins[std::min<std::size_t>(since_ns / plan_.bin_ns, open_->bins.size() - 1)].add(packets);
}

/// Reports the last window's bins that are not empty. Returns whether all are reported.
bool WindowRows::tell_bins(std::uint32_t most_chunks) noexcept {
  constexpr std::size_t kAtOnce = 64;
  WorkerWindow& window = *closing_;
  for (; window.bins_told < window.bins.size(); window.bins_told += kAtOnce) {
    if (most_chunks-- == 0) return false;
    const std::span bins =
        std::span(window.bins).subspan(window.bins_told, std::min(kAtOnce, window.bins.size() - window.bins_told));
    if (std::ranges::all_of(bins, [](const LinkBin& bin) { return bin.packets == 0; })) continue;
    const BinsMessage message{{WindowMessage::Kind::bins, clock_, window.number},
                              {window.bins_told, static_cast<std::uint32_t>(bins.size())}};
    if (!ring_.push(bytes_of(message), std::as_bytes(bins))) return false;
    std::ranges::fill(bins, LinkBin());
  }
  return true;
}

/// Drops the bins for which there is no room.
void WindowRows::drop_bins() noexcept {
  WorkerWindow& window = *closing_;
  for (LinkBin& bin : std::span(window.bins).subspan(window.bins_told)) {
    window.totals.unlisted_bin_packets += bin.packets;
    bin = {};
  }
  window.bins_told = static_cast<std::uint32_t>(window.bins.size());
}

/// Reports the last window's unread flows, by state. Returns whether all are reported.
bool WindowRows::tell_unread() noexcept {
  for (std::size_t state = 0; state < closing_->unread.size(); ++state) {
    UnreadFlows& flows = closing_->unread[state];
    if (!flows.any()) continue;
    const UnreadMessage message{{WindowMessage::Kind::unread, clock_, closing_->number}, state, flows};
    if (!ring_.push(bytes_of(message), {})) return false;
    flows = {};
  }
  return true;
}

/// Drops the unread flows for which there is no room.
void WindowRows::drop_unread() noexcept {
  for (UnreadFlows& flows : closing_->unread) {
    closing_->totals.unlisted_packets += flows.packets;
    closing_->totals.unlisted_wire_bytes += flows.wire_bytes;
    closing_->totals.unlisted_flows += flows.all_flows();
    flows = {};
  }
}

/// Queues the end of the last window, all of which is reported.
bool WindowRows::queue_end() noexcept {
  if (ends_queued_ - ends_told_ == ends_.size()) return false;
  ends_[ends_queued_++ % ends_.size()] = {closing_->number, {closing_->totals, open_->number}};
  return true;
}

/// Reports queued ends. Returns whether all are reported.
bool WindowRows::tell_ends() noexcept {
  for (; ends_told_ != ends_queued_; ++ends_told_) {
    const auto& [window, end] = ends_[ends_told_ % ends_.size()];
    const WindowMessage message{WindowMessage::Kind::end, clock_, window};
    if (!ring_.push(bytes_of(message), bytes_of(end))) return false;
  }
  return true;
}

/// Yields; the device counts what it drops in the meantime.
void WindowRows::wait() noexcept { ::sched_yield(); }

}  // namespace parshall
