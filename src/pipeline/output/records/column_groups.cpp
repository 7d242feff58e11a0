// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/records/column_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "base/parse.hpp"
#include "pipeline/measure/names.hpp"

namespace parshall {
namespace {

/// Columns for each of a flow's first packets: as many as in the name, as in first_sizes_8, or four.
struct FirstPackets {
  std::string_view name, column;
  std::size_t fewer;  ///< columns fewer than packets, since a flow's first packet has no inter-arrival time
};
constexpr FirstPackets kFirstPackets[] = {{"first_sizes", "ip_size", 0},
                                          {"first_times", "iat", 1},
                                          {"first_flags", "tcp_flags", 0},
                                          {"first_payloads", "payload", 0}};
constexpr std::size_t kFewPackets = 4;

/// Groups of columns for records that go to other programs, and the group of all.
constexpr std::string_view kIdentityGroup[] = {"flow_id",    "record", "flow_first_seen_ns",
                                               "end_reason", "exact",  "missed_packets_at_most"};
constexpr std::string_view kTotalsGroup[] = {"packets_total", "ip_bytes_total", "wire_bytes_total"};
constexpr std::string_view kDigestGroup[] = {"flow_key",        "digest_packets", "digest_repeats", "digest_names",
                                             "digest_times_ns", "cut_name",       "cut_time_ns",    "cut_packets",
                                             "cut_repeats",     "cut_names",      "cut_times_ns"};
constexpr std::string_view kShapeGroup[] = {"duration_ns", "tcp_flags",       "iat_mean_ns",     "iat_p50_ns",
                                            "iat_p99_ns",  "gap_p99_packets", "size_mean_bytes", "size_p99_bytes"};
constexpr std::string_view kHeadersGroup[] = {"vlan", "dscp", "ttl_min", "ttl_max", "icmp_type_code"};
constexpr std::string_view kTcpGroup[] = {"rtt_min_ns",       "rtt_p50_ns",       "tcp_retransmissions",
                                          "tcp_out_of_order", "tcp_zero_windows", "tcp_lost_segments"};
constexpr std::string_view kFlagCountsGroup[] = {"tcp_flags_fin", "tcp_flags_syn", "tcp_flags_rst", "tcp_flags_psh",
                                                 "tcp_flags_ack", "tcp_flags_urg", "tcp_flags_ece", "tcp_flags_cwr"};
struct ColumnGroup {
  std::string_view name;
  std::span<const std::string_view> columns;
  bool is_in_all = true;  ///< "all" stands for it, too
};
constexpr ColumnGroup kGroups[] = {{"identity", kIdentityGroup},
                                   {"totals", kTotalsGroup},
                                   {"digest", kDigestGroup},
                                   {"shape", kShapeGroup},
                                   {"headers", kHeadersGroup},
                                   {"tcp", kTcpGroup},
                                   {"flag_counts", kFlagCountsGroup, false},
                                   // Names are read from payload, by one thread model alone.
                                   {"names", std::span(kNameColumnNames).first(kPayloadColumns), false}};

}  // namespace

std::vector<std::string> expand(const std::string& name, ColumnList list) {
  std::string_view rest = name;
  if (const Direction direction = take_direction(rest); direction != Direction::forward) {
    std::vector<std::string> columns = expand(std::string(rest), ColumnList::more);
    const auto has_directions = [](const std::string& column) {
      return is_statistic(column) || column.starts_with("payload_");
    };
    if (!std::ranges::all_of(columns, has_directions)) return {name};
    for (std::string& column : columns) column.insert(0, prefix_of(direction));
    return columns;
  }
  std::vector<std::string> grouped;
  const bool has_default = name == "default" || name == "all";
  if (has_default && list == ColumnList::whole)
    for (const ColumnEntry& entry : base_columns()) grouped.emplace_back(entry.name);
  if (name == "default") return grouped;
  for (const ColumnGroup& group : kGroups)
    if (name == group.name || (name == "all" && group.is_in_all))
      grouped.insert(grouped.end(), group.columns.begin(), group.columns.end());
  if (!grouped.empty()) return grouped;
  if (name == "rate") return {"rate_pps", "rate_bps"};
  if (name == "interval_rate") return {"interval_rate_pps", "interval_rate_bps"};
  for (const FirstPackets& first : kFirstPackets) {
    if (!name.starts_with(first.name)) continue;
    const std::string rest = name.substr(first.name.size());
    const auto packets = rest.empty()            ? kFewPackets
                         : rest.starts_with('_') ? parse_count(rest.substr(1)).value_or(0)
                                                 : 0;
    if (packets <= first.fewer || packets > kMostFirstPackets) break;
    std::vector<std::string> columns;
    for (std::size_t i = 1; i + first.fewer <= packets; ++i) columns.push_back(fmt::format("{}_{}", first.column, i));
    return columns;
  }
  return {name};
}

std::vector<std::string> short_names() {
  std::vector<std::string> names = {"rate", "interval_rate", "default", "all"};
  for (const FirstPackets& first : kFirstPackets) names.emplace_back(first.name);
  for (const ColumnGroup& group : kGroups) names.emplace_back(group.name);
  return names;
}

}  // namespace parshall
