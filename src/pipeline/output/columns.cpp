// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "base/parse.hpp"

namespace parshall {
namespace {

constexpr double kNsPerS = 1e9;

std::optional<double> per_second(double amount, std::uint64_t first_ns, std::uint64_t last_ns) {
  if (last_ns <= first_ns) return std::nullopt;
  return amount * kNsPerS / static_cast<double>(last_ns - first_ns);
}

std::optional<double> in_interval(std::uint64_t now, std::uint64_t before, const IntervalBase& base) {
  if (base.interval_s <= 0 || now < before) return std::nullopt;
  return static_cast<double>(now - before) / base.interval_s;
}

constexpr FlowColumnEntry kEntries[] = {
    {"duration_ns",
     "last seen - first seen",
     ColumnFormat::number,
     {},
     [](const FlowRecord& flow, const IntervalBase&) {
       return std::optional(static_cast<double>(flow.last_ns - flow.first_ns));
     }},
    {"rate_pps",
     "packets / duration; absent for a flow without duration",
     ColumnFormat::number,
     {},
     [](const FlowRecord& flow, const IntervalBase&) {
       return per_second(static_cast<double>(flow.packets), flow.first_ns, flow.last_ns);
     }},
    {"rate_bps",
     "wire bits / duration; absent for a flow without duration",
     ColumnFormat::number,
     {},
     [](const FlowRecord& flow, const IntervalBase&) {
       return per_second(8.0 * static_cast<double>(flow.wire_bytes), flow.first_ns, flow.last_ns);
     }},
    {"interval_rate_pps",
     "packets / packet time since the report before; absent in the first",
     ColumnFormat::number,
     {},
     [](const FlowRecord& flow, const IntervalBase& base) { return in_interval(flow.packets, base.packets, base); }},
    {"interval_rate_bps",
     "wire bits / packet time since the report before; absent in the first",
     ColumnFormat::number,
     {},
     [](const FlowRecord& flow, const IntervalBase& base) {
       return in_interval(8 * flow.wire_bytes, 8 * base.wire_bytes, base);
     }},
    {"tcp_flags",
     "TCP flag bits of all packets, ORed: FIN 1, SYN 2, RST 4, PSH 8, ACK 16, URG 32, ECE 64, CWR 128, NS 256",
     ColumnFormat::tcp_flags,
     {},
     [](const FlowRecord& flow, const IntervalBase&) { return std::optional<double>(flow.tcp_flags); }},
    {"end_reason", "why the record ended: idle, active or evicted; absent while the flow is live", ColumnFormat::number,
     kEndReasonNames,
     [](const FlowRecord& flow, const IntervalBase&) {
       return flow.end_reason == EndReason::none ? std::nullopt : std::optional(static_cast<double>(flow.end_reason));
     }},
};

/// The short names users type: "rate" is both rates.
const FlowColumnEntry* find_entry(std::string_view name) {
  if (name == "duration") name = "duration_ns";
  const auto found = std::ranges::find(kEntries, name, &FlowColumnEntry::name);
  return found == std::end(kEntries) ? nullptr : &*found;
}

/// Columns for each of a flow's first packets: as many as the name says, as in first_sizes_8, or four.
struct FirstPackets {
  std::string_view name, column;
  std::size_t fewer;  ///< columns than packets: a flow's first one has no time since the one before
};
constexpr FirstPackets kFirstPackets[] = {
    {"first_sizes", "ip_size", 0}, {"first_times", "iat", 1}, {"first_flags", "tcp_flags", 0}};
constexpr std::size_t kFewPackets = 4;

/// The columns that a short name stands for, or the name.
std::vector<std::string> expand(const std::string& name) {
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

}  // namespace

std::span<const FlowColumnEntry> flow_column_registry() noexcept { return kEntries; }

Result<Columns> Columns::make(std::span<const std::string> names, const StatisticOptions& options) {
  std::vector<std::string> expanded, of_measure;
  for (const std::string& name : names) std::ranges::move(expand(name), std::back_inserter(expanded));
  for (const std::string& name : expanded)
    if (find_entry(name) == nullptr) of_measure.push_back(name);
  auto set = make_statistics(of_measure, options);
  if (!set) {
    std::string also;
    for (const FlowColumnEntry& entry : kEntries)
      also += std::string(also.empty() ? "" : ", ") + std::string(entry.name);
    return Error{set.error().message +
                 "; columns of a flow's first packets are first_sizes, first_times, first_flags, of the counters " +
                 also};
  }
  Columns columns;
  columns.statistics_ = std::make_shared<const StatisticSet>(*std::move(set));
  const auto known = [&](std::string_view name) {
    return std::ranges::find(columns.columns_, name, &ReportColumn::name) != columns.columns_.end();
  };
  std::size_t next = 0;
  const auto statistics = columns.statistics_->columns();
  for (const std::string& name : expanded) {
    if (const FlowColumnEntry* entry = find_entry(name)) {
      if (known(entry->name)) continue;
      columns.columns_.push_back({std::string(entry->name),
                                  std::string(entry->help),
                                  entry->format,
                                  {entry->values.begin(), entry->values.end()}});
      columns.origins_.push_back({entry, 0});
      columns.needs_interval_ |= entry->name.starts_with("interval_");
    } else if (next < statistics.size()) {
      columns.columns_.push_back(
          {statistics[next].name, statistics[next].help, ColumnFormat::number, statistics[next].values});
      columns.origins_.push_back({nullptr, next++});
    }
  }
  return columns;
}

void Columns::read(const FlowRecord& record, std::span<const std::byte> row, const IntervalBase& base,
                   std::span<std::optional<double>> out) const noexcept {
  if (origins_.empty()) return;
  std::array<std::optional<double>, StatisticSet::kMaxColumns> statistics;
  if (!row.empty()) statistics_->read(row.data(), {statistics.data(), statistics_->columns().size()});
  for (std::size_t i = 0; i < origins_.size(); ++i)
    out[i] = origins_[i].entry != nullptr ? origins_[i].entry->value(record, base) : statistics[origins_[i].statistic];
}

}  // namespace parshall
