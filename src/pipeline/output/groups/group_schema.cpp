// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/groups/group_schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/suggestion.hpp"

namespace parshall {
namespace {

constexpr std::string_view kPlaces[] = {"outside", "inside"};
constexpr std::uint16_t kName = 85, kPlace = 80, kPeers = 81, kSentRate = 82, kReceivedRate = 83;  ///< own elements
constexpr std::size_t kOfPackets = 0, kOfBytes = 1;
constexpr std::uint16_t kPackets = 2, kBytes = 352, kFlows = 3, kFirst = 156, kLast = 157;

}  // namespace

const std::vector<GroupSchema::CommonColumn>& GroupSchema::common_table() {
  const auto count = [](std::string name, std::string unit, IpfixElement ipfix, std::string help,
                        bool nullable = false) {
    return ColumnInfo{.name = std::move(name),
                      .unit = std::move(unit),
                      .type = kUint64,
                      .nullable = nullable,
                      .role = ColumnRole::count,
                      .ipfix = ipfix,
                      .help = std::move(help)};
  };
  const auto rate = [](std::string name, std::uint16_t element, std::string_view what) {
    return ColumnInfo{.name = std::move(name),
                      .unit = "bit/s",
                      .type = kFloat64,
                      .ipfix = {kOwnPen, element},
                      .help = fmt::format("{} bits / packet time of the report; absent if that is 0", what)};
  };
  const auto time = [](std::string name, std::uint16_t element, std::string help) {
    return ColumnInfo{.name = std::move(name),
                      .unit = "ns",
                      .type = kTime,
                      .nullable = false,
                      .role = ColumnRole::time,
                      .ipfix = {0, element},
                      .help = std::move(help)};
  };
  static const std::vector<CommonColumn> all{
      {{.name = "name",
        .type = kText,
        .role = ColumnRole::key,
        .ipfix = {kOwnPen, kName},
        .help = "usual name of the service; of a host, with --hosts or --resolve"},
       {Source::name}},
      {{.name = "place",
        .type = kEnum8,
        .role = ColumnRole::key,
        .ipfix = {kOwnPen, kPlace},
        .help = "inside or outside the networks of --local; absent if a prefix is both; only for hosts and prefixes",
        .values = {std::begin(kPlaces), std::end(kPlaces)}},
       {Source::place}},
      {count("peers", "", {kOwnPen, kPeers},
             "different addresses at the other ends; absent if there are too many to count; only for hosts, prefixes, "
             "services",
             true),
       {Source::peers}},
      {count("flows", "", {0, kFlows}, "flow records"), {Source::flows}},
      {count("wire_bytes", "bytes", {}, "bytes in both directions, frames without FCS"), {Source::bytes}},
      {count("in_packets", "packets", {kReversePen, kPackets}, "packets received"), {Source::received, kOfPackets}},
      {count("out_packets", "packets", {0, kPackets}, "packets sent"), {Source::sent, kOfPackets}},
      {count("in_bytes", "bytes", {kReversePen, kBytes}, "bytes received, frames without FCS"),
       {Source::received, kOfBytes}},
      {count("out_bytes", "bytes", {0, kBytes}, "bytes sent, frames without FCS"), {Source::sent, kOfBytes}},
      {rate("in_bps", kReceivedRate, "received"), {Source::received_rate}},
      {rate("out_bps", kSentRate, "sent"), {Source::sent_rate}},
      {time("first_seen_ns", kFirst, "smallest capture time of its flows"), {Source::first}},
      {time("last_seen_ns", kLast, "largest capture time of its flows"), {Source::last}}};
  return all;
}

std::vector<ColumnInfo> GroupSchema::common_columns() {
  std::vector<ColumnInfo> columns;
  for (const CommonColumn& common : common_table()) columns.push_back(common.column);
  return columns;
}

void GroupSchema::add(ColumnInfo column, Origin origin) {
  columns_.push_back(std::move(column));
  origins_.push_back(origin);
}

Result<GroupSchema> GroupSchema::make(const Grouping& grouping, Networks local, std::span<const ColumnInfo> flows,
                                      std::span<const std::string> names, std::shared_ptr<const HostNames> hosts) {
  if (grouping.needs_local && local.empty())
    return Error{fmt::format("--by {}: name the networks inside, such as --local 10.0.0.0/8", grouping.names.one)};
  GroupSchema schema;
  schema.grouping_ = &grouping;
  schema.local_ = std::move(local);
  if (grouping.is_of_hosts() && hosts && hosts->has_names()) schema.hosts_ = std::move(hosts);
  for (std::size_t end = 0; grouping.is_of_ends() && end < schema.of_ends_.size(); ++end) {
    const auto of = std::ranges::find(flows, grouping.of_ends[end], &ColumnInfo::name);
    if (of == flows.end()) return Error{fmt::format("flows have no column \"{}\"", grouping.of_ends[end])};
    schema.of_ends_[end] = static_cast<std::size_t>(of - flows.begin());
  }
  const TextForm times = std::ranges::find(flows, "first_seen_ns", &ColumnInfo::name)->form;
  const TextForm integers = std::ranges::find(flows, "packets", &ColumnInfo::name)->form;
  for (std::size_t i = 0; i < grouping.columns.size(); ++i) {
    const GroupKeyColumn& key = grouping.columns[i];
    ColumnInfo column{.name = std::string(key.name),
                      .type = key.type,
                      .role = ColumnRole::key,
                      .ipfix = key.ipfix,
                      .help = std::string(key.help)};
    column.values = {key.values.begin(), key.values.end()};
    if (!grouping.of_column.empty()) {
      const auto of = std::ranges::find(flows, grouping.of_column, &ColumnInfo::name);
      if (of == flows.end()) return Error{fmt::format("flows have no column \"{}\"", grouping.of_column)};
      schema.of_column_ = static_cast<std::size_t>(of - flows.begin());
      column.values = of->values;
      schema.is_of_texts_ = of->type == kText;
    }
    schema.key_names_ = column.values;
    schema.add(std::move(column), {Source::key, i});
  }
  for (const CommonColumn& common : common_table()) {
    if (common.origin.source == Source::name && schema.hosts_ == nullptr && !grouping.is_of_services()) continue;
    if (common.origin.source == Source::place && (!grouping.has_places() || schema.local_.empty())) continue;
    if (common.origin.source == Source::peers && !grouping.has_peers) continue;
    ColumnInfo column = common.column;
    if (column.type == kTime) column.form = times;
    if (column.type == kUint64) column.form = integers;
    schema.add(std::move(column), common.origin);
  }
  if (names.empty()) return schema;
  std::vector<ColumnInfo> columns;
  std::vector<Origin> origins;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(schema.columns_, name, &ColumnInfo::name);
    if (found == schema.columns_.end())
      return Error{fmt::format("--columns: {} have no column \"{}\"{}", grouping.names.many, name,
                               suggestion(name, schema.columns_, &ColumnInfo::name))};
    columns.push_back(*found);
    origins.push_back(schema.origins_[static_cast<std::size_t>(found - schema.columns_.begin())]);
  }
  schema.columns_ = std::move(columns);
  schema.origins_ = std::move(origins);
  return schema;
}

std::size_t GroupSchema::find(const FlowKey& flow, std::span<const Value> values,
                              std::array<GroupOfFlow, 2>& out) const noexcept {
  if (grouping_->find != nullptr) return grouping_->find(flow, local_, out);
  if (grouping_->is_of_ends()) {
    for (std::size_t end = 0; end < out.size(); ++end) {
      const Value& value = values[of_ends_[end]];
      const bool is_country = value.present() && value.type() == ValueType::text;
      out[end] = {.group = group_of_value(is_country ? Value::of_unsigned(country_number(value.as_text())) : value),
                  .pair = {},
                  .sends = end == 0};
    }
    return out.size();
  }
  if (is_of_texts_) {
    out[0] = {.group = group_of_value(values[*of_column_]), .pair = {}, .sends = is_from_service(flow)};
    return 1;
  }
  const bool comes_in = local_.contain(flow.dst_address()) && !local_.contain(flow.src_address());
  out[0] = {.group = group_of_value(values[*of_column_]), .pair = {}, .sends = !comes_in};
  return 1;
}

Value GroupSchema::read(const Group& group, const Origin& origin, const ColumnInfo& column,
                        std::optional<double> seconds, bool knows_peers) const noexcept {
  const FlowRecord& record = group.record;
  const auto known = [&](auto read) { return record.key.present() ? read() : Value(); };
  switch (origin.source) {
    case Source::key:
      if (is_of_texts_) return group.text.empty() ? Value() : Value::of_text(group.text);
      return known([&] {
        const auto read = grouping_->columns[origin.index].read;
        return read != nullptr ? read(record.key) : value_of_group(record.key, column.type.value);
      });
    case Source::name:
      return group.text.empty() ? Value() : Value::of_text(group.text);
    case Source::place:
      return known([&] {
        const auto inside = local_.contain(record.key.src_address(), grouping_->place_bits[record.key.ip_version == 6]);
        return inside ? Value::of_enumeration(*inside ? 1 : 0) : Value();
      });
    case Source::peers:
      return knows_peers ? known([&] { return Value::of_unsigned(group.peers); }) : Value();
    case Source::flows:
      return Value::of_unsigned(group.flows);
    case Source::bytes:
      return Value::of_unsigned(record.all_wire_bytes());
    case Source::sent:
      return Value::of_unsigned(origin.index == kOfPackets ? record.packets : record.wire_bytes);
    case Source::received:
      return Value::of_unsigned(origin.index == kOfPackets ? record.reverse_packets : record.reverse_wire_bytes);
    case Source::sent_rate:
      return seconds ? Value::of_real(8 * static_cast<double>(record.wire_bytes) / *seconds) : Value();
    case Source::received_rate:
      return seconds ? Value::of_real(8 * static_cast<double>(record.reverse_wire_bytes) / *seconds) : Value();
    case Source::first:
      return Value::of_time(record.first_ns);
    case Source::last:
      return Value::of_time(record.last_ns);
  }
  return {};
}

void GroupSchema::read(const Group& group, std::optional<double> seconds, bool knows_peers,
                       std::span<Value> out) const noexcept {
  for (std::size_t i = 0; i < columns_.size(); ++i)
    out[i] = read(group, origins_[i], columns_[i], seconds, knows_peers);
}

}  // namespace parshall
