// SPDX-License-Identifier: Apache-2.0
#include "compare/report/columns.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace parshall {
namespace {

using Row = ComparedRow;

CompareColumn column(std::string name, std::string unit, ColumnType type, bool nullable, std::string help,
                     Value (*read)(const Row&)) {
  return {
      {.name = std::move(name), .unit = std::move(unit), .type = type, .nullable = nullable, .help = std::move(help)},
      read};
}

CompareColumn packets(std::string name, std::string help, Value (*read)(const Row&)) {
  return column("packets_" + name, "packets", kUint64, false, std::move(help), read);
}

const FlowKey& at_down(const Row& row) noexcept { return row.flow->at_down ? *row.flow->at_down : row.flow->key; }

/// Returns a delay of samples, if there are any.
Value delay(const Row& row, std::int64_t ns) noexcept {
  return row.passed.delays.samples == 0 ? Value() : Value::of_signed(ns);
}

Value time_of(const Row& row, std::uint64_t ns) noexcept { return row.passed.sent == 0 ? Value() : Value::of_time(ns); }

std::vector<CompareColumn> make_flow_columns() {
  std::vector<CompareColumn> columns{
      column("src_ip", "", kAddress, false, "source address at UP",
             [](const Row& row) { return Value::of_address(row.flow->key.src_address()); }),
      column("src_port", "", kUint16, false, "source port at UP",
             [](const Row& row) { return Value::of_unsigned(row.flow->key.src_port()); }),
      column("dst_ip", "", kAddress, false, "destination address at UP",
             [](const Row& row) { return Value::of_address(row.flow->key.dst_address()); }),
      column("dst_port", "", kUint16, false, "destination port at UP",
             [](const Row& row) { return Value::of_unsigned(row.flow->key.dst_port()); }),
      column("protocol", "", kUint8, false, "IP protocol number",
             [](const Row& row) { return Value::of_unsigned(row.flow->key.protocol); }),
      column("down_src_ip", "", kAddress, false, "source address at DOWN",
             [](const Row& row) { return Value::of_address(at_down(row).src_address()); }),
      column("down_src_port", "", kUint16, false, "source port at DOWN",
             [](const Row& row) { return Value::of_unsigned(at_down(row).src_port()); }),
      column("down_dst_ip", "", kAddress, false, "destination address at DOWN",
             [](const Row& row) { return Value::of_address(at_down(row).dst_address()); }),
      column("down_dst_port", "", kUint16, false, "destination port at DOWN",
             [](const Row& row) { return Value::of_unsigned(at_down(row).dst_port()); }),
      column("way", "", kEnum8, false, "there: from UP to DOWN; back: from DOWN to UP",
             [](const Row& row) { return Value::of_enumeration(static_cast<std::uint64_t>(row.flow->way)); }),
      column("first_ns", "ns", kTime, true, "when its first packet was sent",
             [](const Row& row) { return time_of(row, row.flow->first_ns); }),
      column("last_ns", "ns", kTime, true, "when its last packet was sent",
             [](const Row& row) { return time_of(row, row.flow->last_ns); }),
  };
  std::ranges::find(columns, "way", [](const CompareColumn& each) { return each.info.name; })->info.values = {"there",
                                                                                                              "back"};
  return columns;
}

std::vector<CompareColumn> make_passed_columns() {
  return {
      packets("sent", "packets that passed the first point",
              [](const Row& row) { return Value::of_unsigned(row.passed.sent); }),
      packets("received", "packets that passed the second point",
              [](const Row& row) { return Value::of_unsigned(row.passed.received); }),
      packets("delivered", "sent packets that passed the second point, too",
              [](const Row& row) { return Value::of_unsigned(row.passed.delivered); }),
      packets("lost", "sent packets that did not", [](const Row& row) { return Value::of_unsigned(row.passed.lost); }),
      packets("lost_at_least", "lost packets, if the second point saw none of those that it missed",
              [](const Row& row) {
                return Value::of_unsigned(row.passed.lost - std::min(row.passed.lost, row.receiver_missed));
              }),
      packets("lost_at_most", "lost packets, with those that the first point missed",
              [](const Row& row) { return Value::of_unsigned(row.passed.lost + row.sender_missed); }),
      packets("outside_sent", "sent when the other point may not have watched",
              [](const Row& row) { return Value::of_unsigned(row.passed.outside_sent); }),
      packets("outside_received", "received when the other point may not have watched",
              [](const Row& row) { return Value::of_unsigned(row.passed.outside_received); }),
      packets("duplicated", "received beyond what was sent",
              [](const Row& row) { return Value::of_unsigned(row.passed.duplicated); }),
      packets("extra", "received, but not seen at the first point",
              [](const Row& row) { return Value::of_unsigned(row.passed.extra); }),
      column("packets_reordered", "packets", kUint64, true, "received after a packet that was sent later (RFC 4737)",
             [](const Row& row) { return row.knows_order ? Value::of_unsigned(row.passed.reordered) : Value(); }),
      packets("unlike_sent", "sent in flows of which no packet is the same at both points",
              [](const Row& row) { return Value::of_unsigned(row.passed.unlike_sent); }),
      packets("unlike_received", "received in such flows",
              [](const Row& row) { return Value::of_unsigned(row.passed.unlike_received); }),
      packets("alike", "sent packets with an identical twin",
              [](const Row& row) { return Value::of_unsigned(row.passed.alike); }),
      column("delay_packets", "packets", kUint64, false, "packets that the mean delay is of",
             [](const Row& row) { return Value::of_unsigned(row.passed.delays.packets); }),
      column("delay_samples", "packets", kUint64, false, "packets that the other delays are of",
             [](const Row& row) { return Value::of_unsigned(row.passed.delays.samples); }),
      column("delay_min_ns", "ns", kInt64, true, "least delay",
             [](const Row& row) { return delay(row, row.passed.delays.least); }),
      column("delay_mean_ns", "ns", kFloat64, true, "mean delay",
             [](const Row& row) {
               return row.passed.delays.packets == 0 ? Value() : Value::of_real(row.passed.delays.mean);
             }),
      column("delay_mean_error_ns", "ns", kFloat64, true,
             "how far off the mean delay may be, with 95 % confidence; 0: it is exact",
             [](const Row& row) {
               const Delays& delays = row.passed.delays;
               return delays.packets == 0 || !delays.mean_error ? Value() : Value::of_real(*delays.mean_error);
             }),
      column("delay_p50_ns", "ns", kInt64, true, "median delay",
             [](const Row& row) { return delay(row, row.passed.delays.p50); }),
      column("delay_p90_ns", "ns", kInt64, true, "90th percentile of the delay",
             [](const Row& row) { return delay(row, row.passed.delays.p90); }),
      column("delay_p99_ns", "ns", kInt64, true, "99th percentile of the delay",
             [](const Row& row) { return delay(row, row.passed.delays.p99); }),
      column("delay_max_ns", "ns", kInt64, true, "largest delay",
             [](const Row& row) { return delay(row, row.passed.delays.most); }),
      column("delay_variation_mean_ns", "ns", kFloat64, true,
             "mean difference between the delays of consecutive packets of a flow (RFC 3393)",
             [](const Row& row) {
               const auto& variation = row.passed.delays.variation;
               return variation ? Value::of_real(*variation) : Value();
             }),
  };
}

}  // namespace

std::span<const CompareColumn> flow_columns() {
  static const std::vector<CompareColumn> columns = make_flow_columns();
  return columns;
}

std::span<const CompareColumn> passed_columns() {
  static const std::vector<CompareColumn> columns = make_passed_columns();
  return columns;
}

}  // namespace parshall
