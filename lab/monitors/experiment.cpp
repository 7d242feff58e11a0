// SPDX-License-Identifier: Apache-2.0
#include "lab/monitors/experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "base/machine.hpp"
#include "lab/profile/decode_alone.hpp"
#include "lab/profile/stage_run.hpp"

namespace parshall::lab {
namespace {

constexpr std::size_t kMonitorSample = std::size_t{1} << 18;

std::uint64_t bytes_of(const TableEntry& table, std::size_t flows, const StatisticSet* statistics) {
  return table.memory_bytes(flows) +
         (statistics == nullptr ? 0 : FlowRows::memory_bytes(*statistics, table.slots(flows)));
}

class MonitorContestant {
 public:
  /// Throws std::bad_alloc.
  MonitorContestant(const MonitorUnderTest& monitor, const MonitorSweep& sweep, const Frames& frames, std::size_t begin,
                    const StatisticChoice& statistics)
      : monitor_(&monitor),
        sweep_(&sweep),
        statistics_(statistics.set),
        run_(make(statistics), FlowIdentity(KeyFields::five_tuple, monitor.identity, sweep.seed), frames.source(begin),
             monitor.batch),
        batches_(monitor.batch, sweep.offered) {}

  /// Plays every packet once; returns what is wrong with its account.
  std::optional<Error> fill(std::size_t packets) {
    run_.run(packets);
    if (monitor_->depth == Depth::count) first_pass_ = run_.counts();
    return check();
  }

  void run(std::size_t packets) { run_.run(packets); }

  void observe() {
    batches_.measure(kMonitorSample / 2, [this](std::size_t most) { return run_.run_batch(most); });
  }

  std::optional<Error> check() {
    if (monitor_->depth != Depth::count) return std::nullopt;
    const StageCounts counts = run_.counts();
    const FrontEndCounts& front = run_.front();
    const std::uint64_t seen = std::accumulate(front.verdict.begin(), front.verdict.end(), std::uint64_t{0});
    if (seen == run_.given() &&
        counts[Counter::live_flow_packets] + counts[Counter::ended_record_packets] == counts[Counter::arrived])
      return std::nullopt;
    return Error{fmt::format("{} received {} packets, decided on {} and counted {}; {} are in its flows",
                             monitor_->name, run_.given(), seen, counts[Counter::arrived],
                             counts[Counter::live_flow_packets] + counts[Counter::ended_record_packets])};
  }

  MonitorRow row(const Cost& cost, const std::string& traffic) {
    MonitorRow row{.monitor = *monitor_, .traffic = traffic, .cost = cost, .batches = batches_.figures()};
    if (monitor_->depth != Depth::count) return row;
    const TableEntry& table = *monitor_->table;
    row.memory_bytes = bytes_of(table, sweep_->flows, statistics_.get());
    row.flows = first_pass_[Counter::live_flows];
    row.evicted_share =
        static_cast<double>(first_pass_[Counter::evicted_records]) /
        std::max(1.0, static_cast<double>(first_pass_[Counter::live_flows] + first_pass_[Counter::ended_records]));
    row.expected_merges = expected_merges(table, monitor_->identity, nullptr, 1, first_pass_);
    return row;
  }

 private:
  std::unique_ptr<FlowStage> make(const StatisticChoice& statistics) const {
    const FlowStageOptions options{.flows = sweep_->flows, .statistics = statistics, .snapshots = false};
    if (monitor_->depth == Depth::poll) return nullptr;
    if (monitor_->depth == Depth::decode) return make_decode_alone(options);
    return monitor_->table->make(options);
  }

  const MonitorUnderTest* monitor_;
  const MonitorSweep* sweep_;
  std::shared_ptr<const StatisticSet> statistics_;
  StageRun run_;
  StageCounts first_pass_;
  BatchRounds batches_;
};

/// Returns the statistics, or null if none are requested.
Result<std::shared_ptr<const StatisticSet>> statistics_of(const MonitorUnderTest& monitor) {
  if (monitor.statistics.empty()) return std::shared_ptr<const StatisticSet>();
  auto set = make_statistics(monitor.statistics, monitor.statistic_options);
  if (!set) return set.error();
  return std::make_shared<const StatisticSet>(*std::move(set));
}

std::optional<Error> enough_memory(const MonitorSweep& sweep) {
  std::uint64_t needed = 0;
  for (const MonitorUnderTest& monitor : sweep.monitors) {
    if (monitor.depth != Depth::count) continue;
    const auto statistics = statistics_of(monitor);
    if (!statistics) return statistics.error();
    needed += bytes_of(*monitor.table, sweep.flows, statistics->get());
  }
  if (needed <= available_bytes()) return std::nullopt;
  return Error{
      fmt::format("{} monitors of {} flows each may need {} MB, but {} MB are available: name fewer, or give traffic "
                  "with fewer flows",
                  sweep.monitors.size(), sweep.flows, needed >> 20, available_bytes() >> 20)};
}

}  // namespace

Result<std::vector<MonitorRow>> measure_monitors(const MonitorSweep& sweep, const Frames& frames,
                                                 const std::string& traffic, const std::function<bool()>& stop) {
  if (auto error = enough_memory(sweep)) return *std::move(error);
  const std::size_t packets = frames.size();
  std::vector<std::unique_ptr<MonitorContestant>> contestants;
  std::vector<Variant> variants;
  try {
    for (const MonitorUnderTest& monitor : sweep.monitors) {
      if (stop()) return std::vector<MonitorRow>();
      const auto statistics = statistics_of(monitor);
      if (!statistics) return statistics.error();
      const std::size_t begin = packets / sweep.monitors.size() * contestants.size();
      MonitorContestant& contestant = *contestants.emplace_back(
          std::make_unique<MonitorContestant>(monitor, sweep, frames, begin, StatisticChoice{*statistics, 0}));
      if (auto error = contestant.fill(packets)) return *std::move(error);
      variants.push_back({.name = monitor.name,
                          .run = [&contestant](std::size_t count) { contestant.run(count); },
                          .observe = [&contestant] { contestant.observe(); }});
    }
  } catch (const std::bad_alloc&) {
    return Error{fmt::format("no memory for {} monitors of {} flows each", sweep.monitors.size(), sweep.flows)};
  }
  const std::vector<Cost> costs =
      Harness(kMonitorSample, sweep.rounds, std::min(packets, kMonitorSample)).measure(variants, stop);
  std::vector<MonitorRow> rows;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    if (auto error = contestants[i]->check()) return *std::move(error);
    rows.push_back(contestants[i]->row(costs[i], traffic));
  }
  return rows;
}

}  // namespace parshall::lab
