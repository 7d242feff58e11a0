// SPDX-License-Identifier: Apache-2.0
#include "app/live/table.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "base/random.hpp"
#include "pipeline/output/format.hpp"

namespace parshall::live {
namespace {

constexpr float kAbsent = std::numeric_limits<float>::quiet_NaN();

bool is_text(std::size_t column) noexcept { return column <= kDestination; }

std::uint64_t hash_of(const FlowKey& key) noexcept {
  std::uint64_t hash = 0;
  for (std::size_t at = 0; at < key.significant_bytes(); at += 8) {
    std::uint64_t word;
    std::memcpy(&word, reinterpret_cast<const char*>(&key) + at, sizeof word);
    hash = SplitMix64::mix(hash ^ word);
  }
  return hash;
}

/// Maps an endpoint to its sort order, IPv4 before IPv6. Exact for IPv4 addresses with port; IPv6 uses the first 32
/// bits.
double endpoint_order(std::span<const std::uint8_t> address, std::uint16_t port) noexcept {
  const std::uint64_t head = std::uint64_t{address[0]} << 24 | address[1] << 16 | address[2] << 8 | address[3];
  return static_cast<double>(address.size() == 4 ? head << 16 | port : head << 16 | 1ull << 48);
}

KeyParts key_parts(const Grouping* by) {
  if (by == nullptr || by->names.one == "conversation") return {.rows = by == nullptr ? "flows" : by->names.many};
  const bool is_service = by->names.one == "service";
  return {.addresses = by->has_places() ? 1 : 0, .ports = is_service, .protocol = is_service, .rows = by->names.many};
}

}  // namespace

std::string short_name_of(const ColumnInfo& column) {
  const std::string unit = "_" + column.unit;
  return column.name.ends_with(unit) ? column.name.substr(0, column.name.size() - unit.size()) : column.name;
}

void Table::load(const Report& report, const std::function<void()>& between, double window_s,
                 const std::function<void(const ReportFlow&)>& take) {
  next_.summary = report.summary;
  next_.by = find_grouping(report.rows.one);
  next_.key_names = report.key_names;
  next_.columns.clear();
  if (report.are_groups())
    for (const auto& [name, help] :
         {std::pair{"in_bps", "bits received per second"}, {"out_bps", "bits sent per second"}})
      next_.columns.push_back({.name = name, .unit = "bit/s", .help = help});
  next_.directions = next_.columns.size();
  const auto asked = report.asked();
  next_.columns.insert(next_.columns.end(), asked.begin(), asked.end());
  next_.flows.clear();
  next_.values.clear();
  next_.flows.reserve(report.summary.total[Counter::live_flows]);
  next_.values.reserve(report.summary.total[Counter::live_flows] * next_.stride());
  index_.clear();
  expected_ = 0;

  const ReportSummary &before = now_.summary, &after = next_.summary;
  const bool again = before.number != 0;
  const double interval_s = again ? static_cast<double>(after.last_ns() - before.last_ns()) * 1e-9 : 0;
  const double passed_s = interval_s > 0 ? interval_s : std::max(0.0, after.elapsed_s - before.elapsed_s);
  next_.now_s = interval_s > 0 || !again ? static_cast<double>(after.last_ns()) * 1e-9 : now_.now_s + passed_s;
  const double weight = window_s > 0 ? 1 - std::exp(-passed_s / window_s) : 1;
  const auto rate = [&](std::uint64_t was, std::uint64_t is) -> std::optional<double> {
    if (is == was && again) return 0;  // packet time did not advance
    return interval_s > 0 ? std::optional(static_cast<double>(is - was) / interval_s) : std::nullopt;
  };
  next_.pps = rate(before.total.counted(), after.total.counted());
  next_.bps = rate(8 * before.total[Counter::wire_bytes], 8 * after.total[Counter::wire_bytes]);

  next_.lately = again && !after.final ? std::optional(interval_between(before, after)) : std::nullopt;

  if (report.flows) {
    report.flows([&](const ReportFlow& flow) {
      if (const EndReason reason = flow.record.end_reason; reason != EndReason::none && reason != EndReason::forced_end)
        return;
      const RowRates rates = report.are_groups() ? flow.rates : rates_of(flow.record, {interval_s, weight});
      take_in(flow, rates);
      if (take) take({.record = flow.record, .values = flow.values, .rates = rates});
      if (next_.flows.size() % kSlice == 0) between();
    });
  }
}

void Table::take_in(const ReportFlow& flow, const RowRates& rates) {
  const FlowRecord& record = flow.record;
  const bool is_group = next_.directions != 0;
  next_.flows.push_back({.key = record.key,
                         .packets = is_group ? record.all_packets() : record.packets,
                         .wire_bytes = is_group ? record.all_wire_bytes() : record.wire_bytes,
                         .first_ns = record.first_ns,
                         .last_ns = record.last_ns});
  const std::array<float, 4> numbers{rates.pps, rates.in_bps + rates.out_bps, rates.in_bps, rates.out_bps};
  next_.values.insert(next_.values.end(), numbers.begin(), numbers.begin() + (is_group ? 4 : 2));
  for (const Value& value : flow.values.last(next_.columns.size() - next_.directions)) {
    const auto number = value.number();
    next_.values.push_back(number ? static_cast<float>(*number) : kAbsent);
  }
}

/// Returns a flow's mean rates, all of them sent, from those at the previous report and the difference since then.
RowRates Table::rates_of(const FlowRecord& record, const Passed& passed) {
  const bool has_before = now_.summary.number != 0;
  const Flow* known = has_before ? flow_before(record.key) : nullptr;
  const float* const rates =
      known != nullptr ? &now_.values[static_cast<std::size_t>(known - now_.flows.data()) * now_.stride()] : nullptr;
  // A record that started again since then has nothing to subtract.
  if (known != nullptr &&
      (record.first_ns > known->first_ns || record.packets < known->packets || record.wire_bytes < known->wire_bytes))
    known = nullptr;
  const auto mean = [&](std::uint64_t amount, std::size_t index) {
    const float before = rates != nullptr ? rates[index] : 0;
    float rate = kAbsent;
    if (has_before && amount == 0)
      rate = 0;
    else if (has_before && passed.interval_s > 0)
      rate = static_cast<float>(static_cast<double>(amount) / passed.interval_s);
    return std::isnan(before) ? rate : before + static_cast<float>(passed.weight) * (rate - before);
  };
  return {.pps = mean(record.packets - (known != nullptr ? known->packets : 0), 0),
          .in_bps = 0,
          .out_bps = mean(8 * (record.wire_bytes - (known != nullptr ? known->wire_bytes : 0)), 1)};
}

/// Finds the flow in the previous report. Reports come in nearly the same order each time, so only new flows need a
/// search.
const Table::Flow* Table::flow_before(const FlowKey& key) {
  if (expected_ < now_.flows.size() && now_.flows[expected_].key == key) return &now_.flows[expected_++];
  if (now_.flows.empty()) return nullptr;
  if (index_.empty()) index_flows();
  const std::size_t mask = index_.size() - 1;
  for (std::size_t at = hash_of(key) & mask; index_[at] != 0; at = (at + 1) & mask) {
    const std::size_t found = index_[at] - 1;
    if (!(now_.flows[found].key == key)) continue;
    expected_ = found + 1;
    return &now_.flows[found];
  }
  return nullptr;
}

void Table::index_flows() {
  index_.assign(std::bit_ceil(2 * now_.flows.size()), 0);
  const std::size_t mask = index_.size() - 1;
  for (std::size_t i = 0; i < now_.flows.size(); ++i) {
    std::size_t at = hash_of(now_.flows[i].key) & mask;
    while (index_[at] != 0) at = (at + 1) & mask;
    index_[at] = static_cast<std::uint32_t>(i + 1);
  }
}

double Table::sort_key(std::uint32_t flow, std::size_t column) const noexcept {
  const Flow& of = now_.flows[flow];
  const auto value = [&](std::size_t i) { return static_cast<double>(now_.values[flow * now_.stride() + i]); };
  switch (column) {
    case kProtocol:
      return of.key.protocol;
    case kSource:
      return endpoint_order(of.key.src_address(), of.key.src_port());
    case kDestination:
      return endpoint_order(of.key.dst_address(), of.key.dst_port());
    case kPps:
      return value(0);
    case kBps:
      return value(1);
    case kPackets:
      return static_cast<double>(of.packets);
    case kBytes:
      return static_cast<double>(of.wire_bytes);
    default:
      return value(2 + column - kFixedColumns);
  }
}

bool Table::before(const Sortable& a, const Sortable& b, const Arrangement& wanted) const noexcept {
  if (a.key != b.key) return a.key < b.key;
  if (wanted.sort == kSource || wanted.sort == kDestination) {
    const FlowKey &one = now_.flows[a.flow].key, &two = now_.flows[b.flow].key;
    const bool source = wanted.sort == kSource;
    const auto left = source ? one.src_address() : one.dst_address(),
               right = source ? two.src_address() : two.dst_address();
    int order = std::memcmp(left.data(), right.data(), std::min(left.size(), right.size()));
    if (order == 0) order = source ? one.src_port() - two.src_port() : one.dst_port() - two.dst_port();
    if (order != 0) return (order < 0) != wanted.reversed;
  }
  return a.flow < b.flow;
}

Row Table::row(std::uint32_t flow) const {
  const Flow& of = now_.flows[flow];
  const auto values = now_.values.begin() + static_cast<std::ptrdiff_t>(flow * now_.stride());
  return {of.key, of.packets, of.wire_bytes, {values, values + static_cast<std::ptrdiff_t>(now_.stride())}};
}

/// Returns whether no packet of the row came within `window_s`. At the end of a run, no row is idle.
bool Table::is_idle(const Flow& flow, double window_s) const noexcept {
  return !now_.summary.final && now_.now_s - static_cast<double>(flow.last_ns) * 1e-9 > window_s;
}

View Table::empty_view() const {
  return {.summary = now_.summary,
          .by = now_.by,
          .key_names = now_.key_names,
          .columns = now_.columns,
          .pps = now_.pps,
          .bps = now_.bps,
          .lately = now_.lately,
          .arrangement = {},
          .filter_problem = {},
          .rows = {}};
}

View Table::leaders(std::size_t most, double window_s) const {
  View view = empty_view();
  for (const Flow& flow : now_.flows) view.idle += window_s > 0 && is_idle(flow, window_s);
  const auto later = [](const Sortable& a, const Sortable& b) { return a.key > b.key; };
  std::vector<std::uint32_t> chosen;
  std::vector<Sortable> first;  // heap with the least on top
  for (std::size_t column = kPps; column < kFixedColumns + now_.columns.size(); ++column) {
    first.clear();
    for (std::uint32_t i = 0; i < now_.flows.size(); ++i) {
      if (window_s > 0 && is_idle(now_.flows[i], window_s)) continue;
      const Sortable one{sort_key(i, column), i};
      if (std::isnan(one.key) || (first.size() == most && one.key <= first.front().key)) continue;
      if (first.size() == most) {
        std::ranges::pop_heap(first, later);
        first.pop_back();
      }
      first.push_back(one);
      std::ranges::push_heap(first, later);
    }
    for (const Sortable& one : first) chosen.push_back(one.flow);
  }
  std::ranges::sort(chosen);
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  for (const std::uint32_t flow : chosen) view.rows.push_back(row(flow));
  view.matched = now_.flows.size();
  return view;
}

/// Returns the columns that a filter may name, by their names and as their headings.
std::vector<FilterColumn> Table::filter_columns() const {
  std::vector<FilterColumn> columns{
      {"pps", kPps}, {"bps", kBps}, {"bit/s", kBps}, {"packets", kPackets}, {"bytes", kBytes}};
  for (std::size_t i = 0; i < now_.columns.size(); ++i) {
    columns.push_back({now_.columns[i].name, kFixedColumns + i});
    if (std::string heading = short_name_of(now_.columns[i]); heading != columns.back().name)
      columns.push_back({std::move(heading), kFixedColumns + i});
  }
  return columns;
}

std::optional<View> Table::arrange(const Arrangement& wanted, const std::function<bool()>& superseded) const {
  Arrangement order = wanted;
  if (order.sort >= kFixedColumns + now_.columns.size()) order.sort = kPackets;
  View view = empty_view();
  RowFilter filter;
  if (auto parsed = RowFilter::parse(order.filter, filter_columns(), key_parts(now_.by)))
    filter = *std::move(parsed);
  else
    view.filter_problem = parsed.error().message;
  const double sign = is_text(order.sort) == order.reversed ? -1 : 1;
  std::vector<Sortable> rows;
  rows.reserve(now_.flows.size());
  for (std::uint32_t i = 0; i < now_.flows.size(); ++i) {
    if (i % kSlice == 0 && superseded()) return std::nullopt;
    const Flow& flow = now_.flows[i];
    if (order.hides_idle && is_idle(flow, order.window_s)) {
      ++view.idle;
      continue;
    }
    if (!filter.empty() && !filter.matches({flow.key, [&](std::size_t column) { return sort_key(i, column); }}))
      continue;
    const double key = sort_key(i, order.sort);
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
  for (auto one = at(view.first); one != at(end); ++one) view.rows.push_back(row(one->flow));
  return view;
}

}  // namespace parshall::live
