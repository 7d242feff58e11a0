// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/records/reverse_records.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "pipeline/flow/both_ways.hpp"
#include "pipeline/measure/names.hpp"

namespace parshall {
namespace {

constexpr std::string_view kDirection = "biflow_direction";
constexpr std::uint64_t kUnknown = 0, kReverseInitiator = 2;  // RFC 5103, section 6.3

FlowRecord reversed(const FlowRecord& biflow) noexcept {
  FlowRecord record = biflow;
  record.key = opposite(biflow.key);
  record.packets = biflow.reverse_packets;
  record.ip_bytes = biflow.reverse_ip_bytes;
  record.wire_bytes = biflow.reverse_wire_bytes;
  record.tcp_flags = biflow.reverse_tcp_flags;
  record.reverse_packets = record.reverse_ip_bytes = record.reverse_wire_bytes = record.reverse_tcp_flags = 0;
  return record;
}

}  // namespace

ReverseRecords::ReverseRecords(std::span<const ColumnInfo> columns) : values_(columns.size()) {
  const auto find = [](std::span<const ColumnEntry> entries, const ColumnInfo& column) {
    const auto found = std::ranges::find(entries, column.name, &ColumnEntry::name);
    return found == entries.end() ? nullptr : &*found;
  };
  for (const ColumnInfo& column : columns) {
    const ColumnEntry* entry = find(base_columns(), column);
    if (entry == nullptr) entry = find(counter_columns(), column);
    if (entry == nullptr) entry = find(reverse_columns(), column);
    const bool has_values = entry == nullptr || column.nullable == entry->nullable;  // else a field of the key
    Origin& origin = origins_.emplace_back();
    if (has_values) origin.entry = entry;
    if (entry != nullptr) continue;
    const auto reverse =
        std::ranges::find(columns, fmt::format("{}{}", prefix_of(Direction::reverse), column.name), &ColumnInfo::name);
    if (reverse != columns.end()) origin.column = static_cast<std::size_t>(reverse - columns.begin());
  }
}

bool ReverseRecords::has(std::span<const ColumnInfo> columns, const ColumnInfo& reverse) noexcept {
  std::string_view forward = reverse.name;
  return take_direction(forward) == Direction::reverse &&
         std::ranges::find(columns, forward, &ColumnInfo::name) != columns.end();
}

std::optional<ReportFlow> ReverseRecords::of(const ReportFlow& biflow) {
  if (biflow.record.reverse_packets == 0) return std::nullopt;
  record_ = reversed(biflow.record);
  for (std::size_t i = 0; i < origins_.size(); ++i) {
    const auto& [entry, column] = origins_[i];
    if (column)
      values_[i] = biflow.values[*column];
    else if (entry == nullptr)
      values_[i] = {};
    else if (entry->name == kDirection)
      values_[i] = Value::of_unsigned(record_.knows_initiator ? kReverseInitiator : kUnknown);
    else
      values_[i] = entry->read(record_, IntervalBase());
  }
  return ReportFlow{record_, values_};
}

}  // namespace parshall
