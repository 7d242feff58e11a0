// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/records/base_columns.hpp"

#include <iterator>
#include <memory>
#include <utility>

#include "pipeline/output/records/community_id.hpp"

namespace parshall {
namespace {

using Flow = FlowRecord;
using Base = IntervalBase;
using enum ColumnRole;

constexpr double kNsPerS = 1e9;
constexpr bool kAlways = false, kNullable = true;

template <std::uint64_t Flow::*kCount>
constexpr Value count_of(const Flow& flow, const Base&) noexcept {
  return Value::of_unsigned(flow.*kCount);
}

template <std::uint64_t Flow::*kNs>
constexpr Value time_of(const Flow& flow, const Base&) noexcept {
  return Value::of_time(flow.*kNs);
}

/// Returns a reverse count, absent if there were no reverse packets.
template <std::uint64_t Flow::*kCount>
Value reverse(const Flow& flow, const Base&) noexcept {
  return flow.reverse_packets == 0 ? Value() : Value::of_unsigned(flow.*kCount);
}

Value per_second(double amount, const Flow& flow) noexcept {
  if (flow.last_ns <= flow.first_ns) return {};
  return Value::of_real(amount * kNsPerS / static_cast<double>(flow.last_ns - flow.first_ns));
}

Value in_interval(std::uint64_t now, std::uint64_t before, const Base& base) noexcept {
  if (base.interval_s <= 0 || now < before) return {};
  return Value::of_real(static_cast<double>(now - before) / base.interval_s);
}

Value end_reason(const Flow& flow, const Base&) noexcept {
  if (flow.end_reason == EndReason::none) return {};
  return Value::of_enumeration(static_cast<std::uint64_t>(flow.end_reason));
}

Value id_of_community(const Flow& flow, const Base&) {
  const auto digest = community_id(flow.key);
  return digest ? Value::of_community_id(*digest) : Value();
}

// clang-format off
/// fields: name, unit, type, may it be absent, role, IPFIX, names of values, help, function that reads it
constexpr ColumnEntry kBase[] = {
    {"ip_version", "", kUint8, kAlways, key, {0, 60}, {}, "IP version: 4 or 6",
     [](const Flow& flow, const Base&) { return Value::of_unsigned(flow.key.ip_version); }},
    {"protocol", "", kUint8, kAlways, key, {0, 4}, {}, "IANA number of the protocol",
     [](const Flow& flow, const Base&) { return Value::of_unsigned(flow.key.protocol); }},
    {"src_ip", "", kAddress, kAlways, key, {0, 8, 27}, {}, "source address",
     [](const Flow& flow, const Base&) { return Value::of_address(flow.key.src_address()); }},
    {"src_port", "", kUint16, kAlways, key, {0, 7}, {}, "source port; 0 if the protocol has no ports",
     [](const Flow& flow, const Base&) { return Value::of_unsigned(flow.key.src_port()); }},
    {"dst_ip", "", kAddress, kAlways, key, {0, 12, 28}, {}, "destination address",
     [](const Flow& flow, const Base&) { return Value::of_address(flow.key.dst_address()); }},
    {"dst_port", "", kUint16, kAlways, key, {0, 11}, {}, "destination port; 0 if the protocol has no ports",
     [](const Flow& flow, const Base&) { return Value::of_unsigned(flow.key.dst_port()); }},
    {"packets", "packets", kUint64, kAlways, count, {0, 2}, {}, "packets of this record", count_of<&Flow::packets>},
    {"ip_bytes", "bytes", kUint64, kAlways, count, {0, 1}, {}, "bytes of this record, by the IP headers",
     count_of<&Flow::ip_bytes>},
    {"wire_bytes", "bytes", kUint64, kAlways, count, {0, 352}, {}, "bytes of this record, frames without FCS",
     count_of<&Flow::wire_bytes>},
    {"first_seen_ns", "ns", kTime, kAlways, time, {0, 152, 156}, {}, "smallest capture time, since 1970",
     time_of<&Flow::first_ns>},
    {"last_seen_ns", "ns", kTime, kAlways, time, {0, 153, 157}, {}, "largest capture time, since 1970",
     time_of<&Flow::last_ns>},
};

constexpr ColumnEntry kAsked[] = {
    {"duration_ns", "ns", kInt64, kAlways, asked, {0, 161}, {}, "last seen - first seen",
     [](const Flow& flow, const Base&) {
       return Value::of_signed(static_cast<std::int64_t>(flow.last_ns - flow.first_ns));
     }},
    {"rate_pps", "packets/s", kFloat64, kNullable, asked, {kOwnPen, 70}, {},
      "packets / duration; absent if the duration is 0",
     [](const Flow& flow, const Base&) { return per_second(static_cast<double>(flow.packets), flow); }},
    {"rate_bps", "bit/s", kFloat64, kNullable, asked, {kOwnPen, 71}, {},
      "wire bits / duration; absent if the duration is 0",
     [](const Flow& flow, const Base&) { return per_second(8.0 * static_cast<double>(flow.wire_bytes), flow); }},
    {"interval_rate_pps", "packets/s", kFloat64, kNullable, asked, {kOwnPen, 72}, {},
     "packets / packet time since the previous report; absent in the first report",
     [](const Flow& flow, const Base& base) { return in_interval(flow.packets, base.packets, base); }},
    {"interval_rate_bps", "bit/s", kFloat64, kNullable, asked, {kOwnPen, 73}, {},
     "wire bits / packet time since the previous report; absent in the first report",
     [](const Flow& flow, const Base& base) { return in_interval(8 * flow.wire_bytes, 8 * base.wire_bytes, base); }},
    {"tcp_flags", "", kFlags16, kAlways, asked, {0, 6}, {},
     "TCP flag bits of all packets, ORed: FIN 1, SYN 2, RST 4, PSH 8, ACK 16, URG 32, ECE 64, CWR 128, NS 256",
     [](const Flow& flow, const Base&) { return Value::of_flags(flow.tcp_flags); }},
    {"end_reason", "", kEnum8, kNullable, asked, {0, 136}, kEndReasonNames,
     "reason for the end: idle, active, end_of_flow (FIN or RST, --linger), evicted, or forced (live when the run ended); absent while the flow is live", end_reason},
    {"community_id", "", kCommunityId, kNullable, asked, {kOwnPen, 3}, {},
     "the Community ID of both directions (version 1, seed 0), as in Zeek and Suricata; absent for ICMP",
     id_of_community},
};

constexpr ColumnEntry kReverse[] = {
    {"reverse_packets", "packets", kUint64, kNullable, asked, {kReversePen, 2}, {},
      "packets of the reverse direction (--biflow); absent if there were none",
     reverse<&Flow::reverse_packets>},
    {"reverse_ip_bytes", "bytes", kUint64, kNullable, asked, {kReversePen, 1}, {},
      "bytes of the reverse direction, by the IP headers",
     reverse<&Flow::reverse_ip_bytes>},
    {"reverse_wire_bytes", "bytes", kUint64, kNullable, asked, {kReversePen, 352}, {},
      "bytes of the reverse direction, frames without FCS",
     reverse<&Flow::reverse_wire_bytes>},
    {"reverse_tcp_flags", "", kFlags16, kNullable, asked, {kReversePen, 6}, {},
      "TCP flag bits of the reverse direction, ORed",
     [](const Flow& flow, const Base&) {
       return flow.reverse_packets == 0 ? Value() : Value::of_flags(flow.reverse_tcp_flags);
     }},
    {"biflow_direction", "", kUint8, kAlways, asked, {0, 239}, {},
     "1: the source is the initiator; 0: a guess, because neither a SYN nor the times show the initiator",
     [](const Flow& flow, const Base&) { return Value::of_unsigned(flow.knows_initiator ? 1 : 0); }},
};
// clang-format on
static_assert(std::size(kBase) == kBaseColumns);

/// Statistics with an element of IANA, or one of our own that follows no rule (see statistic_element.cpp).
constexpr StatisticElement kStatistics[] = {
    {"iat_mean_ns", {kOwnPen, 10}},
    {"iat_p50_ns", {kOwnPen, 11}},
    {"iat_p99_ns", {kOwnPen, 12}},
    {"gap_p99_packets", {kOwnPen, 13}},
    {"size_mean_bytes", {kOwnPen, 14}},
    {"size_p99_bytes", {kOwnPen, 15}},
    {"class", {0, 96}},
    {"class_basis", {kOwnPen, 35}},
    {"rtt_min_ns", {kOwnPen, 20}},
    {"rtt_p50_ns", {kOwnPen, 21}},
    {"tcp_retransmissions", {kOwnPen, 22}},
    {"tcp_out_of_order", {kOwnPen, 23}},
    {"tcp_zero_windows", {kOwnPen, 24}},
    {"tcp_lost_segments", {kOwnPen, 25}},
    {"tcp_fast_retransmissions", {kOwnPen, 26}},
    {"tcp_spurious_retransmissions", {kOwnPen, 27}},
    {"tcp_duplicate_acks", {kOwnPen, 28}},
    {"ip_size_min_bytes", {0, 25}},
    {"ip_size_max_bytes", {0, 26}},
    {"tcp_flags_fin", {kOwnPen, 42}},
    {"tcp_flags_syn", {kOwnPen, 43}},
    {"tcp_flags_rst", {kOwnPen, 44}},
    {"tcp_flags_psh", {kOwnPen, 45}},
    {"tcp_flags_ack", {kOwnPen, 46}},
    {"tcp_flags_urg", {kOwnPen, 47}},
    {"tcp_flags_ece", {kOwnPen, 48}},
    {"tcp_flags_cwr", {kOwnPen, 49}},
    {"vlan", {0, 58}},
    {"interface", {0, 82}},
    {"dscp", {0, 195}},
    {"ttl_min", {0, 52}},
    {"ttl_max", {0, 53}},
    {"icmp_type_code", {0, 32, 139}},
};

}  // namespace

std::span<const ColumnEntry, kBaseColumns> base_columns() noexcept { return kBase; }
std::span<const ColumnEntry> counter_columns() noexcept { return kAsked; }
std::span<const ColumnEntry> reverse_columns() noexcept { return kReverse; }

/// Compiles one line for each column, where a loop over the table would call a function for each.
void read_base_columns(const FlowRecord& record, std::span<Value, kBaseColumns> out) noexcept {
  constexpr IntervalBase kNone;
  [&]<std::size_t... kColumn>(std::index_sequence<kColumn...>) {
    (std::construct_at(&out[kColumn], kBase[kColumn].read(record, kNone)), ...);
  }
  (std::make_index_sequence<kBaseColumns>());
}

std::span<const StatisticElement> statistic_elements() noexcept { return kStatistics; }

}  // namespace parshall
