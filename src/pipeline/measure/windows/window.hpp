// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>

#include "base/flow_weight.hpp"
#include "pipeline/flow/in_flight.hpp"

namespace parshall {

/// Length of measurement windows: a time, with borders at whole multiples of it on the packets' clock, or a number of
/// packets of the link ("epochs").
///
/// A packet belongs to the window that is open when it comes, by the latest time of any packet so far. So a packet that
/// comes late, as in files whose times are out of order, counts in the open window, and as late. No window changes
/// after its end.
struct WindowLength {
  enum class Unit : std::uint8_t { ns, packets };

  Unit unit = Unit::ns;
  std::uint64_t amount = 1'000'000'000;

  friend bool operator==(const WindowLength&, const WindowLength&) = default;

  /// Returns the place in the window's unit; never the largest number, which stands for "no border".
  std::uint64_t at(LinkPlace place) const noexcept {
    return std::min(unit == Unit::ns ? place.latest_ns : place.position, kNoBorder - 1);
  }
  std::uint64_t number(LinkPlace place) const noexcept { return at(place) / amount; }
  std::uint64_t begin_of(std::uint64_t number) const noexcept { return number * amount; }
  std::uint64_t end_of(std::uint64_t number) const noexcept {
    return begin_of(number) > kNoBorder - amount ? kNoBorder : begin_of(number) + amount;
  }

  static constexpr std::uint64_t kNoBorder = std::numeric_limits<std::uint64_t>::max();
};

/// Returns the weight of a flow with `packets` packets in such a window. Windows of packets have no duration, so there
/// the packets count as they are.
inline std::uint8_t weight_in(WindowLength window, std::uint64_t packets) noexcept {
  if (window.unit != WindowLength::Unit::ns) return FlowWeight::of(packets);
  const double spans = static_cast<double>(window.amount) / static_cast<double>(FlowWeight::kSpanNs);
  return FlowWeight::of(static_cast<std::uint64_t>(static_cast<double>(packets) / spans));
}

/// Traffic of the whole link in a small part of a window.
struct LinkBin {
  std::uint64_t packets = 0, wire_bytes = 0;

  void add(const LinkBin& other) noexcept {
    packets += other.packets;
    wire_bytes += other.wire_bytes;
  }
};

/// Sum over flows of one state in a window that no task reads one by one.
struct UnreadFlows {
  std::array<std::uint64_t, FlowWeight::kClasses> flows{};  ///< by weight, as in FlowWindow
  std::uint64_t new_flows = 0;                              ///< part of `flows`: records that began in the window
  std::uint64_t packets = 0, ip_bytes = 0, wire_bytes = 0;  ///< including packets of flows from before a task read them

  bool any() const noexcept { return packets != 0; }
  std::uint64_t all_flows() const noexcept { return std::accumulate(flows.begin(), flows.end(), std::uint64_t{0}); }

  void add(CountWord counts) noexcept {
    ++packets;
    ip_bytes += counts.ip_bytes();
    wire_bytes += static_cast<std::uint64_t>(counts.ip_bytes() + counts.extra_bytes());
  }

  /// Has no branch, since that would be unpredictable.
  void add_flow_if(bool is_another, std::size_t weight, bool starts) noexcept {
    flows[weight] += is_another;
    new_flows += is_another & starts;
  }
  void remove_flow(std::size_t weight, bool starts) noexcept {
    --flows[weight];
    new_flows -= starts;
  }
};

/// Everything counted in a window.
struct WindowTotals {
  std::uint64_t packets = 0, ip_bytes = 0, wire_bytes = 0;
  std::uint64_t late_packets = 0;      ///< part of `packets`: time is before the window
  std::uint64_t unlisted_packets = 0;  ///< part of `packets`: in flows not reported to tasks for lack of room
  std::uint64_t unlisted_wire_bytes = 0, unlisted_flows = 0;
  std::uint64_t kept_out_packets = 0, kept_out_wire_bytes = 0;  ///< part of `packets`: kept out by the flood filter
  std::uint64_t missed_packets = 0;        ///< dropped by the device in the meantime, besides `packets`; if known
  std::uint64_t unlisted_bin_packets = 0;  ///< part of the packets: in bins that were not reported
  std::uint64_t first_ns = std::numeric_limits<std::uint64_t>::max(), last_ns = 0;  ///< times of its packets
  bool partial = false;  ///< true if the input began within it (for windows of time), or ended

  void add(CountWord counts, std::uint64_t time_ns) noexcept {
    ++packets;
    ip_bytes += counts.ip_bytes();
    wire_bytes += static_cast<std::uint64_t>(counts.ip_bytes() + counts.extra_bytes());
    first_ns = std::min(first_ns, time_ns);
    last_ns = std::max(last_ns, time_ns);
  }

  /// Returns what was not reported to tasks. For flows it is an upper bound, as each packet without a flow may be a
  /// flow of its own.
  std::uint64_t untold_packets() const noexcept { return unlisted_packets + kept_out_packets; }
  std::uint64_t untold_wire_bytes() const noexcept { return unlisted_wire_bytes + kept_out_wire_bytes; }
  std::uint64_t untold_flows() const noexcept { return unlisted_flows + kept_out_packets; }

  void add(const WindowTotals& other) noexcept {
    packets += other.packets;
    ip_bytes += other.ip_bytes;
    wire_bytes += other.wire_bytes;
    late_packets += other.late_packets;
    unlisted_packets += other.unlisted_packets;
    unlisted_wire_bytes += other.unlisted_wire_bytes;
    unlisted_flows += other.unlisted_flows;
    kept_out_packets += other.kept_out_packets;
    kept_out_wire_bytes += other.kept_out_wire_bytes;
    unlisted_bin_packets += other.unlisted_bin_packets;
    missed_packets += other.missed_packets;
    first_ns = std::min(first_ns, other.first_ns);
    last_ns = std::max(last_ns, other.last_ns);
    partial = partial || other.partial;
  }
};

/// Record of a flow in a window. A flow has several of them if its record ended in the window and it began again, or if
/// it went to another monitoring state.
struct FlowWindow {
  FlowKey key;
  std::uint64_t packets = 0, ip_bytes = 0, wire_bytes = 0;
  std::uint64_t first_ns = 0, last_ns = 0;  ///< first and last packet in order of arrival
  std::uint16_t tcp_flags = 0;
  std::uint8_t state = 0;            ///< its monitoring state
  std::uint8_t effective_state = 0;  ///< state whose measures saw its packets: its own, or a lighter one; the latest
  std::uint8_t weight = 0;        ///< weight (FlowWeight) by which tasks were chosen for it; 0 if weight played no part
  std::uint8_t other_state = 0;   ///< the first effective state; the same if it never changed
  bool more_states = false;       ///< true if there were others in between
  bool starts = false;            ///< true if its record began in the window
  bool is_part = false;           ///< true if the window may have more of its packets elsewhere, for lack of room
  bool measured_in_part = false;  ///< true if the task's measures did not see all its packets
  std::uint64_t earlier_states = 0;     ///< bit i: the window has an earlier part of the record, in state i
  const std::byte* measured = nullptr;  ///< results of the window's measures, valid while tasks read it

  /// Returns whether a reader of flows in these states sees this flow for the first time.
  bool first_in(std::uint64_t states) const noexcept { return (earlier_states & states) == 0; }

  /// Returns whether measures for flows in these states saw all, or any, of its packets.
  bool wholly_in(std::uint64_t states) const noexcept {
    return !more_states && (states >> effective_state & states >> other_state & 1) != 0;
  }
  bool partly_in(std::uint64_t states) const noexcept {
    return ((states >> effective_state | states >> other_state) & 1) != 0;
  }
};

}  // namespace parshall
