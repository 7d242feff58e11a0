// SPDX-License-Identifier: Apache-2.0
#include "app/live/rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "pipeline/measure/tasks/key_part.hpp"

namespace parshall::live {
namespace {

bool is_text(std::size_t column) noexcept { return column <= kDestination; }

/// Maps an endpoint to its sort order, IPv4 before IPv6. Exact for IPv4 addresses with port; IPv6 uses the first 32
/// bits.
double endpoint_order(std::span<const std::uint8_t> address, std::uint16_t port) noexcept {
  const std::uint64_t head = std::uint64_t{address[0]} << 24 | address[1] << 16 | address[2] << 8 | address[3];
  return static_cast<double>(address.size() == 4 ? head << 16 | port : head << 16 | 1ull << 48);
}

/// Returns whether groups are made of a value, such as a VLAN, and not of addresses or ports.
bool is_of_values(const Grouping* by) noexcept { return by != nullptr && by->columns.front().read == nullptr; }

bool is_protocol(const Grouping* by) noexcept { return by != nullptr && by->names.one == "protocol"; }

/// Returns the value that a group is made of; NaN: it has none.
double number_of_group(const FlowKey& group) {
  const Value value = group.present() ? value_of_group(group, ValueType::unsigned_integer) : Value();
  return value.present() ? static_cast<double>(value.as_unsigned()) : std::numeric_limits<double>::quiet_NaN();
}

KeyParts key_parts(const Grouping* by) {
  if (by == nullptr || by->names.one == "conversation") return {.rows = by == nullptr ? "flows" : by->names.many};
  const bool is_service = by->names.one == "service";
  return {.addresses = by->has_places() ? 1 : 0,
          .ports = is_service,
          .protocol = is_service || is_protocol(by),
          .rows = by->names.many};
}

}  // namespace

bool counts_all(const ReportSummary& summary) noexcept {
  const Accounting& total = summary.total;
  return total.lost() == 0 && total[Counter::kept_out_packets] == 0 && total[Counter::evicted_records] == 0;
}

std::string short_name_of(const ColumnInfo& column) {
  const std::string unit = "_" + column.unit;
  return column.name.ends_with(unit) ? column.name.substr(0, column.name.size() - unit.size()) : column.name;
}

double Rows::sort_key(std::uint32_t entry, std::size_t column, std::size_t window) const noexcept {
  const Entry& of = entries[entry];
  switch (column) {
    case kProtocol:
      return of.key.protocol;
    case kSource:
      if (!key_places.empty()) return key_places[entry];
      if (is_of_values(by)) return number_of_group(of.key);
      return endpoint_order(of.key.src_address(), of.key.src_port());
    case kDestination:
      return endpoint_order(of.key.dst_address(), of.key.dst_port());
    case kPps:
      return rates_of(entry, window)[0];
    case kBps:
      return rates_of(entry, window)[1];
    case kPackets:
      return static_cast<double>(of.packets);
    case kBytes:
      return static_cast<double>(of.wire_bytes);
    default:
      return columns_of(entry)[column - kFixedColumns];
  }
}

bool Rows::before(const Sortable& a, const Sortable& b, const Arrangement& wanted) const noexcept {
  if (a.key != b.key) return a.key < b.key;
  const Entry &left_entry = entries[a.entry], &right_entry = entries[b.entry];
  if ((wanted.sort == kSource || wanted.sort == kDestination) && !is_of_values(by)) {
    const FlowKey &one = left_entry.key, &two = right_entry.key;
    const bool source = wanted.sort == kSource;
    const auto left = source ? one.src_address() : one.dst_address(),
               right = source ? two.src_address() : two.dst_address();
    int order = std::memcmp(left.data(), right.data(), std::min(left.size(), right.size()));
    if (order == 0) order = source ? one.src_port() - two.src_port() : one.dst_port() - two.dst_port();
    if (order != 0) return (order < 0) != wanted.reversed;
  }
  if (left_entry.wire_bytes != right_entry.wire_bytes) return left_entry.wire_bytes > right_entry.wire_bytes;
  const int order = order_of(left_entry.key, right_entry.key);
  return order != 0 ? order < 0 : a.entry < b.entry;
}

Row Rows::row(std::uint32_t entry, std::size_t window) const {
  const Entry& of = entries[entry];
  const auto rates = rates_of(entry, window);
  Row row{of.key, of.packets, of.wire_bytes, {rates.begin(), rates.end()}};
  if (!key_texts.empty()) row.text = key_texts[entry];
  const auto numbers = columns_of(entry);
  row.values.insert(row.values.end(), numbers.begin(), numbers.end());
  return row;
}

/// Gives the view the texts that its rows have, and no others.
void Rows::name_texts(View& view) const {
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (columns[i].type != kText) continue;
    std::vector<std::string>& names = view.columns[i].values;
    std::map<float, float> places;
    for (Row& row : view.rows) {
      float& value = row.values[2 + i];
      if (std::isnan(value)) continue;
      const auto [place, is_new] = places.try_emplace(value, static_cast<float>(names.size()));
      if (is_new) names.push_back(texts[i][static_cast<std::size_t>(value)]);
      value = place->second;
    }
  }
}

/// Returns whether no packet of the row came within `window_s`. At the end of a run, no row is idle.
bool Rows::is_idle(const Entry& entry, double window_s) const noexcept {
  return !summary.final && now_s - static_cast<double>(entry.last_ns) * 1e-9 > window_s;
}

View Rows::empty_view() const {
  return {.summary = summary,
          .by = by,
          .key_names = key_names,
          .columns = columns,
          .pps = pps,
          .bps = bps,
          .lately = lately,
          .arrangement = {},
          .filter_problem = {},
          .rows = {}};
}

/// Returns the columns that a filter may name, by their names and as their headings.
std::vector<FilterColumn> Rows::filter_columns() const {
  std::vector<FilterColumn> names{
      {"pps", kPps}, {"bps", kBps}, {"bit/s", kBps}, {"packets", kPackets}, {"bytes", kBytes}};
  if (is_of_values(by)) {
    const GroupKeyColumn& key = by->columns.front();
    names.push_back({std::string(key.name), kSource, key.type == kText ? &key_texts : nullptr});
  }
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto* const of_column = columns[i].type == kText ? &texts[i] : nullptr;
    names.push_back({columns[i].name, kFixedColumns + i, of_column});
    if (std::string heading = short_name_of(columns[i]); heading != names.back().name)
      names.push_back({std::move(heading), kFixedColumns + i});
  }
  return names;
}

std::optional<View> Rows::arrange(const Arrangement& wanted, const Networks& local,
                                  const std::function<bool()>& superseded) const {
  Arrangement order = wanted;
  if (order.sort >= kFixedColumns + columns.size()) order.sort = kPackets;
  View view = empty_view();
  RowFilter filter;
  if (auto parsed = RowFilter::parse(order.filter, filter_columns(), key_parts(by)))
    filter = *std::move(parsed);
  else
    view.filter_problem = parsed.error().message;
  const double sign = is_text(order.sort) == order.reversed ? -1 : 1;
  const Within within(wanted.within, local, columns, texts);
  const bool is_part = by == nullptr && !within.empty();
  std::vector<Sortable> rows;
  rows.reserve(entries.size());
  for (std::uint32_t i = 0; i < entries.size(); ++i) {
    if (i % kSlice == 0 && superseded()) return std::nullopt;
    const Entry& entry = entries[i];
    if (is_part && !within.contains(entry.key, columns_of(i))) continue;
    if (order.hides_idle && is_idle(entry, order.window_s())) {
      ++view.idle;
      continue;
    }
    FlowKey key_seen = entry.key;
    if (is_protocol(by) && entry.key.present())
      key_seen.protocol = static_cast<std::uint8_t>(number_of_group(entry.key));
    if (!filter.empty() &&
        !filter.matches({key_seen, [&](std::size_t column) { return sort_key(i, column, order.window); }}))
      continue;
    const double key = sort_key(i, order.sort, order.window);
    rows.push_back({std::isnan(key) ? std::numeric_limits<double>::infinity() : sign * key, i});
  }

  view.arrangement = order;
  view.matched = rows.size();
  const std::uint64_t first = std::min(wanted.first, view.matched);
  view.first = first - std::min(first, kMargin);
  const std::uint64_t end = std::min(view.matched, first + 2 * kMargin);
  const auto at = [&](std::uint64_t row) { return rows.begin() + static_cast<std::ptrdiff_t>(row); };
  const auto less = [&](const Sortable& a, const Sortable& b) { return before(a, b, order); };
  if (view.first != 0) std::nth_element(at(0), at(view.first), at(view.matched), less);
  if (superseded()) return std::nullopt;
  if (end != view.matched) std::nth_element(at(view.first), at(end), at(view.matched), less);
  std::sort(at(view.first), at(end), less);
  for (auto one = at(view.first); one != at(end); ++one) view.rows.push_back(row(one->entry, order.window));
  name_texts(view);
  return view;
}

}  // namespace parshall::live
