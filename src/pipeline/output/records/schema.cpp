// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/records/schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "base/suggestion.hpp"
#include "pipeline/decode/application/libcrypto.hpp"
#include "pipeline/output/records/column_groups.hpp"
#include "pipeline/output/records/community_id.hpp"
#include "pipeline/output/records/statistic_element.hpp"

namespace parshall {
namespace {

/// Finds a column by the names that users type; "rate" means both rates.
const ColumnEntry* find_entry(std::string_view name) {
  if (name == "duration") name = "duration_ns";
  for (const std::span<const ColumnEntry> entries :
       {counter_columns(), std::span<const ColumnEntry>(base_columns()), reverse_columns()})
    if (const auto found = std::ranges::find(entries, name, &ColumnEntry::name); found != entries.end()) return &*found;
  return nullptr;
}

const IdentityColumn* find_identity(std::string_view name) {
  if (name == "flow_first_seen") name = "flow_first_seen_ns";
  const auto found = std::ranges::find(identity_columns(), name, &IdentityColumn::name);
  return found == identity_columns().end() ? nullptr : &*found;
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
          .nullable = column.type != kBool,  // the flow may have existed before
          .ipfix = column.ipfix,
          .help = std::string(column.help),
          .values = {column.values.begin(), column.values.end()}};
}

ColumnInfo info_of(const Column& column) {
  return {.name = column.name,
          .unit = column.unit,
          .type = column.type,
          .nullable = true,  // the flow may have too few packets, or have existed before
          .ipfix = statistic_element(column.name),
          .help = column.help,
          .values = column.values};
}

/// Returns all names that can be requested.
std::vector<std::string> names_to_ask() {
  std::vector<std::string> names;
  for (const std::span<const ColumnEntry> entries :
       {std::span<const ColumnEntry>(base_columns()), counter_columns(), reverse_columns()})
    for (const ColumnEntry& entry : entries) names.emplace_back(entry.name);
  names.insert(names.end(), {"duration", "flow_first_seen"});
  for (const IdentityColumn& column : identity_columns()) names.emplace_back(column.name);
  std::ranges::move(all_statistic_names(), std::back_inserter(names));
  std::ranges::move(short_names(), std::back_inserter(names));
  return names;
}

struct ColumnAlias {
  std::string_view name, column;
};
/// As other programs call them, and the headings of the text report.
constexpr ColumnAlias kAliases[] = {{"src", "src_ip"},
                                    {"dst", "dst_ip"},
                                    {"source", "src_ip"},
                                    {"destination", "dst_ip"},
                                    {"sport", "src_port"},
                                    {"dport", "dst_port"},
                                    {"proto", "protocol"},
                                    {"pkts", "packets"},
                                    {"bytes", "wire_bytes or ip_bytes"},
                                    {"octets", "ip_bytes"},
                                    {"start", "first_seen_ns"},
                                    {"first_seen", "first_seen_ns"},
                                    {"end", "last_seen_ns"},
                                    {"last_seen", "last_seen_ns"},
                                    {"flags", "tcp_flags"},
                                    {"pps", "rate_pps"},
                                    {"bps", "rate_bps"}};

/// Returns true if a name ends in an impossible percentile, such as p101.
bool is_beyond_percentiles(std::string_view name) {
  const std::size_t at = name.rfind("_p");
  const auto digits = at == name.npos ? std::string_view() : name.substr(at + 2);
  return digits.size() >= 3 && digits.find_first_not_of("0123456789") == digits.npos;
}

Error no_column(const std::string& name) {
  const std::string hint = column_hint(name);
  return Error{fmt::format("no column \"{}\"{}", name,
                           hint.empty() ? suggestion(name, names_to_ask(), "parshall list columns") : hint)};
}

/// Converts a statistic's number. It is a `double`, which holds every integer up to 2^53: 104 days in ns.
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
    case ValueType::address:  // no statistic has these types
    case ValueType::community_id:
    case ValueType::text:
      break;
  }
  return Value::of_real(*number);
}

}  // namespace

std::string column_hint(std::string_view name) {
  if (const auto alias = std::ranges::find(kAliases, name, &ColumnAlias::name); alias != std::end(kAliases))
    return fmt::format("; it is called {} here", alias->column);
  if (is_beyond_percentiles(name)) return "; a percentile is below 100, such as p99";
  for (const std::string_view other : {"_avg", "_average"})
    if (name.ends_with(other))
      if (const std::string mean = fmt::format("{}_mean", name.substr(0, name.size() - other.size()));
          is_statistic(mean))
        return fmt::format("; it is called {} here", mean);
  return {};
}

std::size_t columns_of_record(std::span<const ColumnInfo> columns) noexcept {
  const auto is_given = [](const ColumnInfo& column, const ColumnEntry& entry) {
    return column.nullable == entry.nullable;
  };
  return begins_as_usual(columns) && std::ranges::equal(columns.first(kBaseColumns), base_columns(), is_given)
             ? kBaseColumns
             : 0;
}

bool begins_as_usual(std::span<const ColumnInfo> columns) noexcept {
  const auto is_same = [](const ColumnInfo& column, const ColumnEntry& entry) { return column.name == entry.name; };
  return columns.size() >= kBaseColumns && std::ranges::equal(columns.first(kBaseColumns), base_columns(), is_same);
}

std::optional<Error> libraries_problem(std::span<const std::string> names) {
  const auto needs_crypto = [](const std::string& name) {
    if (name == "community_id" || name == "ja4") return true;
    const IdentityColumn* const identity = find_identity(name);
    if (identity == nullptr || identity->needs != RowNeed::names) return false;
    NameColumns one;
    one.add(name_column(identity->name));
    return one.has_any_of_quic() && is_built_with_crypto();
  };
  for (const std::string& name : names)
    for (const std::string& column : expand(name, ColumnList::more))
      if (needs_crypto(column) && crypto_problem()) return Error{column + ": " + crypto_problem()->message};
  return std::nullopt;
}

Schema::Schema() : statistics_(std::make_shared<const StatisticSet>()) {
  for (const ColumnEntry& entry : base_columns()) add(entry);
  of_record_ = kBaseColumns;
}

bool Schema::has(std::string_view name) const noexcept {
  return std::ranges::find(columns_, name, &ColumnInfo::name) != columns_.end();
}

void Schema::add(const ColumnEntry& entry) {
  if (has(entry.name)) return;
  columns_.push_back(info_of(entry));
  origins_.push_back({.entry = &entry});
  needs_interval_ |= entry.name.starts_with("interval_");
}

Result<Schema> Schema::make(std::span<const std::string> names, const StatisticOptions& options, ColumnList list) {
  std::vector<std::string> expanded, of_measure;
  for (const std::string& name : names) std::ranges::move(expand(name, list), std::back_inserter(expanded));
  StatisticOptions with_origins = options;
  bool has_identity = false;
  for (const std::string& name : expanded) {
    const IdentityColumn* const identity = find_identity(name);
    const bool is_reverse = std::ranges::find(reverse_columns(), name, &ColumnEntry::name) != reverse_columns().end() ||
                            (identity != nullptr && identity->needs == RowNeed::reverse_payloads);
    if (is_reverse && !options.biflows) return needs_biflows(name);
    if (identity == nullptr && find_entry(name) == nullptr) of_measure.push_back(name);
    has_identity |= identity != nullptr;
    with_origins.origins |= identity != nullptr && identity->needs == RowNeed::origin;
    with_origins.digest |= identity != nullptr && identity->needs == RowNeed::digest;
    const bool has_name =
        identity != nullptr &&
        (identity->needs == RowNeed::names || (identity->needs == RowNeed::resolved_names && options.resolves_names));
    if (identity != nullptr && identity->needs == RowNeed::label) {
      if (options.labeller == nullptr)
        return Error{
            fmt::format("{} takes the inspection of packets: say for how many connections, such as --label 1/100 "
                        "or --label all",
                        name)};
      with_origins.labels = true;
    }
    if (identity != nullptr && (identity->needs == RowNeed::payloads || identity->needs == RowNeed::reverse_payloads)) {
      with_origins.payloads = std::max(with_origins.payloads, payload_number(*identity));
      with_origins.reverse_payloads |= identity->needs == RowNeed::reverse_payloads;
    }
    if (has_name) with_origins.names.add(name_column(identity->name));
  }
  for (const std::string& name : of_measure)
    if (!is_statistic(name)) return no_column(name);
  auto set = make_statistics(of_measure, with_origins);
  if (!set) return set.error();
  Schema schema;
  if (list == ColumnList::whole) schema.columns_.clear(), schema.origins_.clear();
  schema.statistics_ = std::make_shared<const StatisticSet>(*std::move(set));
  if (has_identity) {
    schema.ids_ = std::make_shared<const FlowIds>(options.seed);
    schema.losses_ = std::make_shared<LossLog>();
  }
  if (auto problem = libraries_problem(expanded)) return *std::move(problem);
  const auto statistics = schema.statistics_->columns();
  for (const std::string& name : expanded) {
    if (const ColumnEntry* entry = find_entry(name)) {
      schema.add(*entry);
    } else if (const IdentityColumn* identity = find_identity(name)) {
      if (schema.has(identity->name)) continue;
      schema.columns_.push_back(info_of(*identity));
      schema.origins_.push_back({.identity = identity});
    } else {
      const std::string column = make_statistics(std::array{name}, with_origins)->columns().front().name;
      if (schema.has(column)) continue;
      const auto at = std::ranges::find(statistics, column, &Column::name);
      schema.columns_.push_back(info_of(*at));
      schema.origins_.push_back({.statistic = static_cast<std::size_t>(at - statistics.begin())});
    }
  }
  schema.of_record_ = columns_of_record(schema.columns_);
  return schema;
}

void Schema::read(const FlowRecord& record, std::span<const std::byte> row, const IntervalBase& base,
                  std::span<Value> out) const noexcept {
  if (of_record_ != 0) read_base_columns(record, out.first<kBaseColumns>());
  if (origins_.size() == of_record_) return;
  std::array<std::optional<double>, StatisticSet::kMaxColumns> statistics;
  if (!row.empty()) statistics_->read(row.data(), {statistics.data(), statistics_->columns().size()});
  FlowOrigin::State origin;
  if (!row.empty() && statistics_->has_origins()) origin = FlowOrigin::state_of(statistics_->origin_state(row.data()));
  Digest::State digest;
  if (!row.empty() && statistics_->has_digest()) digest = Digest::state_of(statistics_->digest_state(row.data()));
  NamesOfFlow names;
  if (!row.empty() && statistics_->names() != nullptr)
    names = ApplicationNames::read_names(row.data() + statistics_->names()->row_offset);
  LabelOfFlow label;
  if (!row.empty() && statistics_->label() != nullptr)
    label = statistics_->flow_label()->read_label(row.data() + statistics_->label()->row_offset);
  std::array<const std::byte*, 2> payloads{};
  if (!row.empty() && statistics_->payloads() != nullptr) {
    payloads[0] = row.data() + statistics_->payloads()->row_offset;
    if (statistics_->has_reverse()) payloads[1] = payloads[0] + statistics_->direction_row_bytes();
  }
  for (std::size_t i = of_record_; i < origins_.size(); ++i) {
    const auto [entry, identity, statistic] = origins_[i];
    if (entry != nullptr)
      out[i] = entry->read(record, base);
    else if (identity != nullptr)
      out[i] = identity->read({record, origin, *ids_, *losses_, digest, names, hosts_.get(), label, payloads});
    else
      out[i] = statistic ? value_of(columns_[i].type, statistics[*statistic]) : Value();
  }
}

void Schema::add_reverse() {
  for (const ColumnEntry& entry : reverse_columns()) add(entry);
}

void Schema::set_forms(TextForm times, TextForm integers) {
  for (ColumnInfo& column : columns_) {
    const bool is_long = column.type == kUint64 || column.type == kInt64 || column.type == kTime;
    if (is_long && integers != TextForm::number) column.form = integers;
    if (column.type == kTime && times != TextForm::number) column.form = times;
  }
}

void Schema::set_key(KeyFields key) {
  const auto take_out = [this](std::initializer_list<std::string_view> names) {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (std::ranges::find(names, columns_[i].name) == names.end()) continue;
      columns_[i].nullable = true;
      origins_[i] = {};
    }
  };
  if (key != KeyFields::five_tuple) take_out({"protocol", "src_port", "dst_port", "service"});
  if (key == KeyFields::dst) take_out({"src_ip", "src_name", "src_asn", "src_country"});
  if (key == KeyFields::src) take_out({"dst_ip", "dst_name", "dst_asn", "dst_country"});
  of_record_ = columns_of_record(columns_);
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
  all.push_back({.name = std::string(FlowClass::kBasisName),
                 .type = kEnum8,
                 .ipfix = statistic_element(FlowClass::kBasisName),
                 .help = std::string(FlowClass::kBasisHelp),
                 .values = {kClassBasisNames.begin(), kClassBasisNames.end()}});
  for (const StatisticElement& one : statistic_elements())  // examples of a pattern above
    if (std::ranges::find(all, one.column, &ColumnInfo::name) == all.end())
      all.push_back(Schema::make(std::array{std::string(one.column)}, {})->asked().front());
  return all;
}

}  // namespace parshall
