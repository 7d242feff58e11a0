// SPDX-License-Identifier: Apache-2.0
#include "lab/monitors/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/machine.hpp"
#include "lab/rivals/maps/tables.hpp"

namespace parshall::lab {
namespace {

constexpr std::size_t kDefaultBatch = 256;
constexpr double kBusyAtMost = 0.7;  ///< of what a core takes without loss

/// Returns whether `parshall watch` lacks the table: it is measured for comparison and never advised.
bool is_rival(const TableEntry& table) noexcept {
  return std::ranges::any_of(
      rival_tables(), [&](const TableEntry& rival) { return rival.name == table.name && rival.exact == table.exact; });
}

std::uint64_t bytes_of_all(const MonitorRow& row, std::size_t workers) noexcept { return row.memory_bytes * workers; }

/// Every table that may keep the flows as wished.
std::vector<MonitorUnderTest> monitors_of(const Wish& wish) {
  std::vector<MonitorUnderTest> monitors;
  for (const TableEntry& table : table_registry())
    if (table.exact || wish.merges > 0)
      monitors.push_back({.name = table.exact ? std::string(table.name) : fmt::format("{} (fingerprint)", table.name),
                          .depth = Depth::count,
                          .table = &table,
                          .identity = table.exact ? Identity::exact : Identity::fingerprint,
                          .statistics = wish.statistics,
                          .batch = kDefaultBatch});
  return monitors;
}

std::size_t workers_for(const Wish& wish, const MonitorRow& row, std::vector<std::string>& reasons) {
  if (wish.rate_pps == 0 || row.batches.rounds == 0) return 1;
  const double needed = std::ceil(wish.rate_pps / (kBusyAtMost * row.batches.lossless_mpps.median * 1e6));
  if (needed > static_cast<double>(wish.cores)) {
    reasons.push_back(fmt::format("{:.2f} Mpps are more than {} cores can handle without loss: expect losses",
                                  wish.rate_pps / 1e6, wish.cores));
    return wish.cores;
  }
  return std::max<std::size_t>(1, static_cast<std::size_t>(needed));
}

/// A table as comments.
std::string commented(std::span<const MonitorRow> rows) {
  const Part part = monitor_part(rows);
  for (const FigureFormat& format : figure_formats()) {
    if (format.name != "text") continue;
    std::string text = "#", body = format.part("advise", monitor_columns(), part);
    for (const char c : body) text += c == '\n' ? std::string("\n# ") : std::string(1, c);
    return text.substr(0, text.size() - 2);
  }
  return "";
}

}  // namespace

const MonitorRow* choose(std::span<const MonitorRow> rows, const std::function<bool(const MonitorRow&)>& fit,
                         const std::function<bool(const MonitorRow&)>& preferred, std::string& reason) {
  std::vector<const MonitorRow*> candidates;
  for (const MonitorRow& row : rows)
    if (fit(row)) candidates.push_back(&row);
  if (candidates.empty()) return nullptr;
  const MonitorRow* const best =
      *std::ranges::min_element(candidates, {}, [](const MonitorRow* row) { return row->cost.median_ns; });
  std::erase_if(candidates, [&](const MonitorRow* row) { return row->cost.low_ns > best->cost.high_ns; });
  if (candidates.size() == 1) {
    reason = "it is the cheapest";
    return best;
  }
  const auto wanted = std::ranges::find_if(candidates, [&](const MonitorRow* row) { return preferred(*row); });
  reason = fmt::format("{} have the same cost within the precision of the measurement; of these it is the ",
                       candidates.size());
  if (wanted != candidates.end()) {
    reason += "default";
    return *wanted;
  }
  reason += "smallest";
  return *std::ranges::min_element(candidates, {}, [](const MonitorRow* row) { return row->memory_bytes; });
}

Result<std::optional<Advice>> advise(const Wish& wish, const Frames& frames, const std::string& traffic,
                                     const std::function<void(const std::string&)>& progress,
                                     const std::function<bool()>& stop) {
  Advice advice{.traffic = traffic, .flows = frames.distinct_flows()};
  if (advice.flows == 0) return Error{fmt::format("{}: none of its packets belongs to a flow", traffic)};
  advice.capacity = advice.flows + advice.flows / 2 + 1;
  MonitorSweep sweep{.monitors = monitors_of(wish), .flows = advice.capacity, .rounds = wish.rounds, .seed = wish.seed};
  progress(
      fmt::format("measuring {} tables on {} packets of {} flows", sweep.monitors.size(), frames.size(), advice.flows));
  auto tables = measure_monitors(sweep, frames, traffic, stop);
  if (!tables) return tables.error();
  if (tables->empty()) return std::optional<Advice>();
  advice.tables = *std::move(tables);
  const auto fit = [&](const MonitorRow& row) {
    return !is_rival(*row.monitor.table) && row.evicted_share == 0 && row.expected_merges <= wish.merges &&
           row.memory_bytes <= wish.memory_bytes;
  };
  std::string reason;
  const MonitorRow* const chosen = choose(
      advice.tables, fit, [](const MonitorRow& row) { return row.monitor.name == "bucketed"; }, reason);
  if (chosen == nullptr)
    return Error{fmt::format("no table of parshall watch keeps {} flows in {} MB with at most {} merges", advice.flows,
                             wish.memory_bytes >> 20, wish.merges)};
  advice.reasons.push_back(fmt::format("table {}: of the tables of parshall watch, {}", chosen->monitor.name, reason));

  sweep.monitors.clear();
  for (const std::size_t batch : {32u, 64u, 128u, 256u, 512u, 1024u}) {
    sweep.monitors.push_back(chosen->monitor);
    sweep.monitors.back().batch = batch;
  }
  progress(fmt::format("measuring {} batch sizes of {}", sweep.monitors.size(), chosen->monitor.name));
  auto batches = measure_monitors(sweep, frames, traffic, stop);
  if (!batches) return batches.error();
  if (batches->empty()) return std::optional<Advice>();
  advice.batches = *std::move(batches);
  const MonitorRow* const batch = choose(
      advice.batches, [](const MonitorRow&) { return true; },
      [](const MonitorRow& row) { return row.monitor.batch == kDefaultBatch; }, reason);
  advice.reasons.push_back(fmt::format("batch {}: {}", batch->monitor.batch, reason));
  advice.monitor = batch->monitor;
  advice.workers = workers_for(wish, *batch, advice.reasons);
  const std::size_t wanted = advice.workers;
  while (advice.workers > 1 && bytes_of_all(*batch, advice.workers) > wish.memory_bytes) --advice.workers;
  if (advice.workers != wanted)
    advice.reasons.push_back(fmt::format(
        "{} workers, but the rate needs {}: there is not enough memory for more tables", advice.workers, wanted));
  return std::optional(std::move(advice));
}

std::string to_toml(const Advice& advice) {
  std::string text = fmt::format("# For traffic like {}, with {} flows.\n", advice.traffic, advice.flows);
  for (const auto& [name, value] : describe_machine()) text += fmt::format("# {:<22} {}\n", name, value);
  text += commented(advice.tables) + commented(advice.batches) + "#\n";
  for (const std::string& reason : advice.reasons) text += fmt::format("# {}\n", reason);
  text += fmt::format("\nidentity = \"{}\"\nflows = \"{}\"\nbatch = {}\nworkers = {}\n",
                      advice.monitor.identity == Identity::exact ? "exact" : "fingerprint", advice.capacity,
                      advice.monitor.batch, advice.workers);
  std::string statistics;
  for (const std::string& name : advice.monitor.statistics)
    statistics += fmt::format("{}\"{}\"", statistics.empty() ? "" : ", ", statistics.empty() ? "+" + name : name);
  if (!statistics.empty()) text += fmt::format("columns = [{}]\n", statistics);
  return text;
}

}  // namespace parshall::lab
