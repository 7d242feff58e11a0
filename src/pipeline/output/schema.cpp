// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "base/parse.hpp"
#include "pipeline/output/community_id.hpp"
#include "pipeline/output/statistic_element.hpp"

namespace parshall {
namespace {

/// The short names users type: "rate" is both rates.
const ColumnEntry* find_entry(std::string_view name) {
  if (name == "duration") name = "duration_ns";
  const auto entries = counter_columns();
  const auto found = std::ranges::find(entries, name, &ColumnEntry::name);
  return found == entries.end() ? nullptr : &*found;
}

const IdentityColumn* find_identity(std::string_view name) {
  if (name == "flow_first_seen") name = "flow_first_seen_ns";
  const auto found = std::ranges::find(identity_columns(), name, &IdentityColumn::name);
  return found == identity_columns().end() ? nullptr : &*found;
}

/// Columns for each of a flow's first packets: as many as the name says, as in first_sizes_8, or four.
struct FirstPackets {
  std::string_view name, column;
  std::size_t fewer;  ///< columns than packets: a flow's first one has no time since the one before
};
constexpr FirstPackets kFirstPackets[] = {
    {"first_sizes", "ip_size", 0}, {"first_times", "iat", 1}, {"first_flags", "tcp_flags", 0}};
constexpr std::size_t kFewPackets = 4;

/// What records are asked for that go to others: by group, and all of them.
constexpr std::string_view kIdentityGroup[] = {"flow_id",    "record", "flow_first_seen_ns",
                                               "end_reason", "exact",  "missed_packets_at_most"};
constexpr std::string_view kTotalsGroup[] = {"packets_total", "ip_bytes_total", "wire_bytes_total"};
constexpr std::string_view kShapeGroup[] = {"duration_ns", "tcp_flags",       "iat_mean_ns",     "iat_p50_ns",
                                            "iat_p99_ns",  "gap_p99_packets", "size_mean_bytes", "size_p99_bytes"};
constexpr std::string_view kHeadersGroup[] = {"vlan", "dscp", "ttl_min", "ttl_max", "icmp_type_code"};
constexpr std::string_view kTcpGroup[] = {"rtt_min_ns",       "rtt_p50_ns",       "tcp_retransmissions",
                                          "tcp_out_of_order", "tcp_zero_windows", "tcp_lost_segments"};
struct ColumnGroup {
  std::string_view name;
  std::span<const std::string_view> columns;
};
constexpr ColumnGroup kGroups[] = {{"identity", kIdentityGroup},
                                   {"totals", kTotalsGroup},
                                   {"shape", kShapeGroup},
                                   {"headers", kHeadersGroup},
                                   {"tcp", kTcpGroup}};

/// The columns that a short name stands for, or the name.
std::vector<std::string> expand(const std::string& name) {
  if (name == "default") return {};
  std::vector<std::string> grouped;
  for (const ColumnGroup& group : kGroups)
    if (name == group.name || name == "all") grouped.insert(grouped.end(), group.columns.begin(), group.columns.end());
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

ColumnInfo info_of(const ColumnEntry& entry) {
  return {std::string(entry.name),
          std::string(entry.unit),
          entry.type,
          entry.nullable,
          entry.role,
          entry.ipfix,
          std::string(entry.help),
          {entry.values.begin(), entry.values.end()}};
}

ColumnInfo info_of(const IdentityColumn& column) {
  return {.name = std::string(column.name),
          .unit = std::string(column.unit),
          .type = column.type,
          .nullable = column.type != kBool,  // a flow may have been there before anybody asked
          .ipfix = column.ipfix,
          .help = std::string(column.help)};
}

ColumnInfo info_of(const Column& column) {
  return {.name = column.name,
          .unit = column.unit,
          .type = column.type,
          .nullable = true,  // a flow may have too few packets, or have been there before anybody asked
          .ipfix = statistic_element(column.name),
          .help = column.help,
          .values = column.values};
}

/// Statistics tell numbers as `double`, which holds every integer up to 2^53: ns of 104 days.
Value value_of(ColumnType type, std::optional<double> number) noexcept {
  constexpr double kTooMuch = 0x1p64;
  if (!number) return {};
  const auto whole = [&] { return *number < kTooMuch ? static_cast<std::uint64_t>(*number) : ~std::uint64_t{0}; };
  switch (type.value) {
    case ValueType::unsigned_integer:
      return Value::of_unsigned(whole());
    case ValueType::time:
      return Value::of_time(whole());
    case ValueType::enumeration:
      return Value::of_enumeration(whole());
    case ValueType::flags:
      return Value::of_flags(whole());
    case ValueType::boolean:
      return Value::of_bool(*number != 0);
    case ValueType::signed_integer:
      return Value::of_signed(static_cast<std::int64_t>(*number));
    case ValueType::real:
    case ValueType::address:  // no statistic has these
    case ValueType::community_id:
      break;
  }
  return Value::of_real(*number);
}

}  // namespace

Schema::Schema() : statistics_(std::make_shared<const StatisticSet>()) {
  for (const ColumnEntry& entry : base_columns()) columns_.push_back(info_of(entry));
}

Result<Schema> Schema::make(std::span<const std::string> names, const StatisticOptions& options) {
  std::vector<std::string> expanded, of_measure;
  for (const std::string& name : names) std::ranges::move(expand(name), std::back_inserter(expanded));
  StatisticOptions with_origins = options;
  bool has_identity = false;
  for (const std::string& name : expanded) {
    const IdentityColumn* const identity = find_identity(name);
    if (identity == nullptr && find_entry(name) == nullptr) of_measure.push_back(name);
    has_identity |= identity != nullptr;
    with_origins.origins |= identity != nullptr && identity->of_origin;
  }
  auto set = make_statistics(of_measure, with_origins);
  if (!set) {
    std::string also;
    for (const ColumnEntry& entry : counter_columns())
      also += std::string(also.empty() ? "" : ", ") + std::string(entry.name);
    also += ", several at once identity, totals, shape, headers, tcp, all, of the flow and what may be missing ";
    for (const IdentityColumn& column : identity_columns())
      also += std::string(&column == identity_columns().data() ? "" : ", ") + std::string(column.name);
    return Error{set.error().message +
                 "; columns of a flow's first packets are first_sizes, first_times, first_flags, of the counters " +
                 also};
  }
  Schema schema;
  schema.statistics_ = std::make_shared<const StatisticSet>(*std::move(set));
  if (has_identity) {
    schema.ids_ = std::make_shared<const FlowIds>(options.seed);
    schema.losses_ = std::make_shared<LossLog>();
  }
  if (std::ranges::find(expanded, "community_id") != expanded.end() && !can_make_community_ids())
    return Error{"community_id takes OpenSSL, which this build is without (libssl-dev)"};
  const auto known = [&](std::string_view name) {
    return std::ranges::find(schema.columns_, name, &ColumnInfo::name) != schema.columns_.end();
  };
  std::size_t next = 0;
  const auto statistics = schema.statistics_->columns();
  for (const std::string& name : expanded) {
    if (const ColumnEntry* entry = find_entry(name)) {
      if (known(entry->name)) continue;
      schema.columns_.push_back(info_of(*entry));
      schema.origins_.push_back({.entry = entry});
      schema.needs_interval_ |= entry->name.starts_with("interval_");
    } else if (const IdentityColumn* identity = find_identity(name)) {
      if (known(identity->name)) continue;
      schema.columns_.push_back(info_of(*identity));
      schema.origins_.push_back({.identity = identity});
    } else if (next < statistics.size()) {
      schema.columns_.push_back(info_of(statistics[next]));
      schema.origins_.push_back({.statistic = next++});
    }
  }
  return schema;
}

void Schema::read(const FlowRecord& record, std::span<const std::byte> row, const IntervalBase& base,
                  std::span<Value> out) const noexcept {
  read_base_columns(record, out.first<kBaseColumns>());
  if (origins_.empty()) return;
  std::array<std::optional<double>, StatisticSet::kMaxColumns> statistics;
  if (!row.empty()) statistics_->read(row.data(), {statistics.data(), statistics_->columns().size()});
  FlowOrigin::State origin;
  if (!row.empty() && statistics_->has_origins()) origin = FlowOrigin::state_of(statistics_->origin_state(row.data()));
  for (std::size_t i = 0; i < origins_.size(); ++i) {
    const auto [entry, identity, statistic] = origins_[i];
    Value& value = out[kBaseColumns + i];
    if (entry != nullptr)
      value = entry->read(record, base);
    else if (identity != nullptr)
      value = identity->read({record, origin, *ids_, *losses_});
    else
      value = value_of(columns_[kBaseColumns + i].type, statistics[statistic]);
  }
}

void Schema::add_reverse() {
  for (const ColumnEntry& entry : reverse_columns()) {
    columns_.push_back(info_of(entry));
    origins_.push_back({.entry = &entry});
  }
}

std::vector<ColumnInfo> list_columns() {
  std::vector<ColumnInfo> all;
  for (const ColumnEntry& entry : base_columns()) all.push_back(info_of(entry));
  for (const ColumnEntry& entry : counter_columns()) all.push_back(info_of(entry));
  for (const IdentityColumn& column : identity_columns()) all.push_back(info_of(column));
  for (const StatisticListing& statistic : list_statistics({}))
    all.push_back({.name = statistic.column,
                   .unit = statistic.unit,
                   .type = statistic.type,
                   .ipfix = statistic_element(statistic.column),
                   .help = statistic.help});
  std::ranges::transform(reverse_columns(), std::back_inserter(all),
                         [](const ColumnEntry& entry) { return info_of(entry); });
  all.push_back({.name = std::string(FlowClass::kName),
                 .type = FlowClass::kType,
                 .ipfix = statistic_element(FlowClass::kName),
                 .help = std::string(FlowClass::kHelp)});
  for (const StatisticElement& one : statistic_elements())  // of a pattern above
    if (std::ranges::find(all, one.column, &ColumnInfo::name) == all.end())
      all.push_back(Schema::make(std::array{std::string(one.column)}, {})->asked().front());
  return all;
}

}  // namespace parshall
