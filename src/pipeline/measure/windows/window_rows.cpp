// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/windows/window_rows.hpp"

#include <sched.h>

namespace parshall {

WindowRows::WindowRows(WindowPlan plan, std::uint32_t clock, std::size_t slots, RecordRing& ring, bool can_wait,
                       const FlowSample* sample)
    : plan_(std::move(plan)),
      length_(plan_.length),
      clock_(clock),
      stride_(stride_of(*plan_.measures)),
      ring_(ring),
      can_wait_(can_wait),
      sample_(sample),
      rows_(slots * stride_),
      reads_all_(plan_.reads_all()),
      unread_(reads_all_ ? 0 : slots) {
  for (WorkerWindow& window : windows_) {
    window.unread.resize(plan_.read.size());
    window.slots = HugeBuffer<std::uint32_t>(slots);
    window.bins.resize(plan_.bins());
  }
}

void WindowRows::begin_window(LinkPlace place) noexcept {
  const std::uint64_t number = length_.number(place);
  if (++last_serial_ == kNoWindow) ++last_serial_;
  open_->restart(number, last_serial_, /*is_untold=*/false, one_in());
  border_ = length_.end_of(number);
  not_late_ns_ = length_.unit == WindowLength::Unit::ns ? length_.begin_of(number) : 0;
}

void WindowRows::flow_ended(std::uint32_t slot, const FlowKey& key, bool evicted) noexcept {
  if (!reads_all_) unread_[slot].serial = kNoWindow;
  Row& row = row_of(slot);
  if (row.serial == kNoWindow) return;
  if (row.serial != open_->serial) return tell_now(row, key, *closing_);
  evicted_ += evicted;
  tell_now(row, key, *open_, /*is_part=*/evicted);
}

void WindowRows::flow_moved(std::uint32_t from, std::uint32_t to, const FlowKey& key) noexcept {
  if (!reads_all_) unread_[to] = std::exchange(unread_[from], {});
  Row &row = row_of(from), &there = row_of(to);
  if (row.serial == open_->serial && row.serial != kNoWindow) {
    const std::uint32_t listed = there.listed;
    std::memcpy(&there, &row, stride_);
    there.listed = listed;
    list(there, to);
  } else if (row.serial != kNoWindow) {
    tell_now(row, key, *closing_);
  }
  row.serial = kNoWindow;
}

/// Passes the packets to the measures of their flows' states. It first lists the packets that have any, since a branch
/// on this would be unpredictable.
void WindowRows::measure(std::span<const RowUpdate> packets, std::span<const PacketFinding> findings) noexcept {
  std::array<std::uint8_t, kStatBatch> any;
  std::size_t measured = 0;
  for (std::size_t i = 0; i < packets.size(); ++i) {
    any[measured] = static_cast<std::uint8_t>(i);
    measured += measures_of(findings[i]) != 0;
  }
  if (measured == 0) return;
  std::array<std::byte*, kStatBatch> rows, rows_taken;
  std::array<const PacketFinding*, kStatBatch> taken;
  for (std::size_t i = 0; i < measured; ++i) rows[i] = row_of(packets[any[i]].slot).measured();
  for (std::size_t m = 0; m < plan_.measures->measures().size(); ++m) {
    const auto& [measure, offset] = plan_.measures->measures()[m];
    std::size_t count = 0;
    for (std::size_t i = 0; i < measured; ++i) {
      const PacketFinding& finding = findings[any[i]];
      rows_taken[count] = rows[i];
      taken[count] = &finding;
      count += measures_of(finding) >> m & 1;
    }
    if (count != 0) measure->update({{rows_taken.data(), count}, offset, taken.data()});
  }
}

void WindowRows::list(Row& row, std::uint32_t slot) noexcept {
  if (row.listed == open_->serial) return;
  row.listed = open_->serial;
  open_->slots[open_->listed++] = slot;
}

/// Reports a row. A flow that is only in a larger sample of the window stands for 0 flows.
bool WindowRows::tell(const Row& row, const FlowKey& key, const WorkerWindow& window, bool is_part) noexcept {
  const std::uint32_t one_in = window.totals.one_in;
  const bool in_sample = one_in == window.least_one_in || sample_->takes(key, one_in);
  const FlowMessage message{.message = {WindowMessage::Kind::flow, clock_, window.number},
                            .flow = {.key = key,
                                     .packets = row.packets,
                                     .ip_bytes = row.ip_bytes,
                                     .wire_bytes = row.wire_bytes,
                                     .first_ns = row.first_ns,
                                     .last_ns = row.last_ns,
                                     .tcp_flags = row.tcp_flags,
                                     .state = row.state,
                                     .effective_state = row.effective_state,
                                     .weight = row.weight,
                                     .other_state = row.other_state,
                                     .more_states = row.more_states,
                                     .starts = row.starts,
                                     .stands_for = in_sample ? one_in : 0,
                                     .is_part = is_part,
                                     .earlier_states = row.earlier_states}};
  return ring_.push(bytes_of(message), {row.measured(), row.is_measured ? plan_.measures->bytes() : 0});
}

/// Reports the next `count` rows that the last window lists, at most kToldAtOnce. Returns false if the ring was full.
bool WindowRows::tell_listed(std::uint32_t count, FlowKeys key_of) noexcept {
  WorkerWindow& window = *closing_;
  const std::span slots(&window.slots[window.told], std::min(window.listed - window.told, count + kToldAtOnce));
  for (const std::uint32_t slot : slots.subspan(count)) prefetch_line(&row_of(slot));
  std::array<FlowKey, kToldAtOnce> keys;
  for (std::uint32_t i = 0; i < count; ++i)
    if (row_of(slots[i]).serial == window.serial) keys[i] = key_of(slots[i]);
  for (std::uint32_t i = 0; i < count; ++i, ++window.told) {
    Row& row = row_of(slots[i]);
    if (row.serial != window.serial) continue;  // already reported with its next packet or its end
    if (!tell(row, keys[i], window)) return false;
    row.serial = kNoWindow;
  }
  return true;
}

void WindowRows::tell_now(Row& row, const FlowKey& key, WorkerWindow& window, bool is_part) noexcept {
  bool told = tell(row, key, window, is_part);
  while (!told && can_wait_) {
    wait();
    told = tell(row, key, window, is_part);
  }
  if (!told) {
    window.totals.unlisted_packets += row.packets;
    window.totals.unlisted_wire_bytes += row.wire_bytes;
    ++window.totals.unlisted_flows;
  }
  row.serial = kNoWindow;
}

void WindowRows::tell_alone(const PacketFacts& facts, LinkPlace place, FlowKeys key_of) noexcept {
  if (is_beyond(place)) open(place, key_of);
  const RowUpdate packet{.counts = facts.counts, .time_ns = facts.time_ns, .place = place};
  Row row{.first_ns = facts.time_ns};
  row.starts = true;
  row.add(packet);
  add_to_totals(packet);
  tell_now(row, facts.key, *open_, /*is_part=*/true);
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
