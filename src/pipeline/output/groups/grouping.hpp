// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/networks.hpp"
#include "pipeline/flow/record.hpp"
#include "pipeline/output/records/column.hpp"
#include "pipeline/output/text/report.hpp"

namespace parshall {

/// Sum over the flow records of a group, such as a host. `record` has the group as its key. Its counts are those of
/// the packets that the group sent, and its reverse counts are those of the packets it received.
struct Group {
  FlowRecord record;
  std::uint64_t flows = 0;     ///< flow records
  std::uint64_t peers = 0;     ///< different addresses at the other ends
  RowRates rates = {};         ///< sums of ReportFlow::rates
  std::string_view text = {};  ///< that the group is made of, if flows are grouped by a column of texts; else its name
};

/// Counts that a flow adds to a group.
struct GroupShare {
  std::uint64_t packets = 0, wire_bytes = 0, flows = 0;
  std::uint64_t first_ns = ~std::uint64_t{0}, last_ns = 0;
  RowRates rates = {};

  GroupShare& operator+=(const GroupShare& other) noexcept {
    packets += other.packets;
    wire_bytes += other.wire_bytes;
    flows += other.flows;
    first_ns = std::min(first_ns, other.first_ns);
    last_ns = std::max(last_ns, other.last_ns);
    rates.pps += other.rates.pps;
    rates.in_bps += other.rates.in_bps;
    rates.out_bps += other.rates.out_bps;
    return *this;
  }
};

/// Group that a flow belongs to, and the flow's direction as the group sees it.
struct GroupOfFlow {
  FlowKey group;
  FlowKey pair;        ///< the group together with the address at the other end; not present() if peers do not count
  bool sends = false;  ///< the group sent the flow's packets
};

/// Column that names a group.
struct GroupKeyColumn {
  std::string_view name;
  ColumnType type;
  IpfixElement ipfix;
  std::string_view help;
  Value (*read)(const FlowKey& group);
  std::span<const std::string_view> values = {};  ///< names of 0, 1, ... of an enumeration
};

/// Way to add up flows, with its name for `--by`.
struct Grouping {
  RowNames names;  ///< that for `--by`, such as "host", and that of its groups
  std::string_view help;
  std::string_view opens;  ///< rows that the view of one group begins with; empty: its flows
  std::span<const GroupKeyColumn> columns;
  /// Finds the groups of a flow; returns how many. Null: they are the values of `of_column` or `of_ends`.
  std::size_t (*find)(const FlowKey& flow, const Networks& local, std::array<GroupOfFlow, 2>& out) noexcept;
  std::string_view of_column = {};               ///< column of flow records
  std::array<std::string_view, 2> of_ends = {};  ///< in its place, columns of the source and of the destination
  std::array<std::uint8_t, 2>
      place_bits{};  ///< of an IPv4 and an IPv6 group that is inside or outside; 0: it has no place
  bool has_peers = false, needs_local = false;

  /// Returns the columns of flow records that groups are made of.
  std::vector<std::string> columns_of_flows() const {
    std::vector<std::string> names_of_columns;
    for (const std::string_view column : {of_column, of_ends[0], of_ends[1]})
      if (!column.empty()) names_of_columns.emplace_back(column);
    return names_of_columns;
  }
  bool is_of_ends() const noexcept { return !of_ends[0].empty(); }
  bool is_of_hosts() const noexcept { return names.one == "host"; }
  bool is_of_services() const noexcept { return names.one == "service"; }
  bool has_places() const noexcept { return place_bits[0] != 0; }
};

/// Lists all groupings, one line each.
std::span<const Grouping> groupings() noexcept;

/// Returns the grouping of that name, or null.
const Grouping* find_grouping(std::string_view name) noexcept;

/// Returns whether a flow comes from the end with the service: the one with the lower port. Of a connection's two
/// directions, one does.
bool is_from_service(const FlowKey& flow) noexcept;

/// Makes the group of a flow whose column has this value: a number, or a text, which is hashed to 128 bits. For
/// groupings by a column.
FlowKey group_of_value(const Value& value) noexcept;
/// Returns the number that the group was made from.
Value value_of_group(const FlowKey& group, ValueType type) noexcept;

}  // namespace parshall
