// SPDX-License-Identifier: Apache-2.0
#include "app/live/row_groups.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <string>

namespace parshall::live {
namespace {

constexpr std::size_t kDirections = 2;  ///< columns in front of others

/// Columns of groups besides those that every view has.
std::vector<std::string> names_of(const Grouping& by, bool has_local) {
  std::vector<std::string> names;
  if (by.has_places() && has_local) names.emplace_back("place");
  if (by.has_peers) names.emplace_back("peers");
  names.emplace_back("flows");
  return names;
}

/// Columns of flows as GroupSchema needs them: those of these rows first.
std::vector<ColumnInfo> flow_columns(const Rows& flows) {
  std::vector<ColumnInfo> columns = flows.columns;
  std::ranges::copy(Schema().columns(), std::back_inserter(columns));
  return columns;
}

/// Reads flows of `rows`: their counts, their rates, and the value that groups may be of.
class FlowReader {
 public:
  FlowReader(const Rows& rows, const Arrangement& wanted)
      : rows_(rows), window_(wanted.window), values_(rows.columns.size()) {
    of_ = static_cast<std::size_t>(std::ranges::find(rows.columns, wanted.by->of_column, &ColumnInfo::name) -
                                   rows.columns.begin());
  }

  ReportFlow read(std::size_t at) {
    const Rows::Entry& entry = rows_.entries[at];
    const auto rates = rows_.rates_of(at, window_);
    record_.key = entry.key;
    record_.packets = entry.packets;
    record_.wire_bytes = entry.wire_bytes;
    record_.first_ns = entry.first_ns;
    record_.last_ns = entry.last_ns;
    if (of_ < values_.size()) {
      const float number = rows_.columns_of(at)[of_];
      const auto whole = static_cast<std::uint64_t>(std::isnan(number) ? 0 : number);
      values_[of_] = std::isnan(number)                 ? Value()
                     : rows_.columns[of_].type == kText ? Value::of_text(rows_.texts[of_][whole])
                                                        : Value::of_unsigned(whole);
    }
    return {.record = record_, .values = values_, .rates = {.pps = rates[0], .in_bps = 0, .out_bps = rates[1]}};
  }

 private:
  const Rows& rows_;
  const std::size_t window_;
  std::size_t of_;  ///< column; that after the last: none
  FlowRecord record_;
  std::vector<Value> values_;
};

}  // namespace

std::uint64_t RowGroups::memory_bytes(std::uint64_t flows, bool have_texts) noexcept {
  constexpr std::size_t kMostColumns = kDirections + 3;
  const std::uint64_t rows = flows + 1;
  return Rows::memory_bytes(rows, kMostColumns, have_texts ? 1 : 0) + Rows::arranging_bytes(rows) +
         GroupTable::memory_bytes(rows, have_texts);
}

std::optional<View> RowGroups::arrange(const Rows& flows, const Arrangement& wanted,
                                       const std::function<bool()>& superseded,
                                       const std::function<bool()>& abandoned) {
  if (wanted.by == nullptr) return flows.arrange(wanted, local_, superseded);
  const bool is_known = is_known_ && rows_.by == wanted.by && within_ == wanted.within && window_ == wanted.window;
  if (!is_known && !add_up(flows, wanted, abandoned)) return std::nullopt;
  return rows_.arrange(wanted, local_, superseded);
}

void RowGroups::clear() noexcept {
  is_known_ = false;
  rows_ = {};
  table_.reset();
  schema_.reset();
}

/// Prepares an empty table; returns false if flows do not have the column of the grouping.
bool RowGroups::begin(const Rows& flows, const Grouping& by) {
  auto schema = GroupSchema::make(by, local_, flow_columns(flows), names_of(by, !local_.empty()), hosts_);
  if (!schema) return false;
  const bool is_same = schema_ && &schema_->grouping() == &by && most_ == flows.summary.capacity;
  schema_ = *std::move(schema);
  if (is_same && table_)
    table_->clear();
  else
    table_.emplace(*schema_, most_ = flows.summary.capacity, seed_);
  return true;
}

std::vector<ColumnInfo> RowGroups::columns(const Rows& flows, const Grouping* by) const {
  if (by == nullptr) return flows.columns;
  std::vector<ColumnInfo> columns{{.name = "in_bps", .unit = "bit/s", .help = "bits received per second"},
                                  {.name = "out_bps", .unit = "bit/s", .help = "bits sent per second"}};
  if (const auto schema = GroupSchema::make(*by, local_, flow_columns(flows), names_of(*by, !local_.empty())))
    std::ranges::copy(schema->columns(), std::back_inserter(columns));
  return columns;
}

bool RowGroups::add_up(const Rows& flows, const Arrangement& wanted, const std::function<bool()>& abandoned) {
  is_known_ = false;
  rows_ = {.summary = flows.summary,
           .by = wanted.by,
           .now_s = flows.now_s,
           .columns = columns(flows, wanted.by),
           .pps = flows.pps,
           .bps = flows.bps,
           .lately = flows.lately,
           .entries = std::move(rows_.entries),
           .values = std::move(rows_.values)};
  rows_.entries.clear();
  rows_.values.clear();
  if (begin(flows, *wanted.by)) {
    const Within within(wanted.within, local_, flows.columns, flows.texts);
    FlowReader reader(flows, wanted);
    for (std::size_t i = 0; i < flows.entries.size(); ++i) {
      if (i % Rows::kSlice == 0 && abandoned()) return false;
      if (within.empty() || within.contains(flows.entries[i].key, flows.columns_of(i))) table_->add(reader.read(i));
    }
    rows_.key_names = schema_->key_names();
    // A group among its own flows says nothing: without it, a host's hosts are its peers.
    const auto is_itself = [&](const FlowKey& key) {
      return std::ranges::any_of(wanted.within,
                                 [&](const Opened& each) { return each.by == wanted.by && each.key == key; });
    };
    const auto take = [&](const ReportFlow& group) {
      if (!is_itself(group.record.key)) take_in(group);
    };
    const bool is_of_texts = schema_->is_of_texts();
    table_->visit(take, is_of_texts ? GroupTable::Order::by_key : GroupTable::Order::any);
    if (is_of_texts) rows_.key_places.resize(rows_.key_texts.size());
    std::iota(rows_.key_places.begin(), rows_.key_places.end(), 0.0F);
  }
  within_ = wanted.within;
  window_ = wanted.window;
  is_known_ = true;
  return true;
}

void RowGroups::take_in(const ReportFlow& group) {
  const FlowRecord& record = group.record;
  if (schema_->is_of_texts() || rows_.by->is_of_services() || (hosts_ && rows_.by->is_of_hosts()))
    rows_.key_texts.emplace_back(group.text);
  rows_.entries.push_back({.key = record.key,
                           .packets = record.all_packets(),
                           .wire_bytes = record.all_wire_bytes(),
                           .first_ns = record.first_ns,
                           .last_ns = record.last_ns});
  const RowRates& rates = group.rates;
  for (const float rate : {rates.pps, rates.in_bps + rates.out_bps, rates.in_bps, rates.out_bps})
    rows_.values.push_back(rate);
  for (const Value& value : group.values) {
    const auto number = value.number();
    rows_.values.push_back(number ? static_cast<float>(*number) : std::numeric_limits<float>::quiet_NaN());
  }
}

}  // namespace parshall::live
