// SPDX-License-Identifier: Apache-2.0
#include "lab/overload/experiment.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace parshall::lab {
namespace {

constexpr double kAlikeByFlows = 0.1, kAlikeByCount = 0.05;
constexpr double kSwings[] = {1.2, 1.4, 1.6, 1.8, 2, 2.2}, kConstants[] = {0.6, 0.8, 1, 1.2, 1.4, 1.6};

OverloadCell cell_of(OverloadGraph graph, bool swings, double load) {
  return {.graph = graph, .swings = swings, .load = load};
}

/// Adds a cell under conditions that change one thing.
template <class Change>
void add(std::vector<OverloadCell>& cells, OverloadCell cell, Change change) {
  change(cell);
  cells.push_back(cell);
}

std::vector<OverloadRow> simulate(const OverloadSweep& sweep, const OverloadCell& cell,
                                  const std::atomic<bool>& stopped) {
  std::vector<const OverloadPolicyEntry*> policies{&no_adaptation()};
  for (const OverloadPolicyEntry* policy : sweep.policies)
    if (policy != policies.front()) policies.push_back(policy);
  std::vector<OverloadRow> rows;
  for (const OverloadPolicyEntry* policy : policies)
    rows.push_back(
        {.policy = policy, .cell = cell, .worst_by_flows = kOverloadTasks, .worst_by_count = kOverloadTasks});
  for (int round = 0; round < sweep.rounds; ++round) {
    const std::uint64_t seed = sweep.seed + static_cast<std::uint64_t>(round);
    const OverloadTraffic traffic(cell.graph, cell.flows, seed);
    const OverloadSimulation simulation(traffic, cell, {}, sweep.length, seed);
    if (stopped) return {};
    const double by_flows = simulation.bound(EventMeasure::flows), by_count = simulation.bound(EventMeasure::each);
    for (OverloadRow& row : rows) {
      if (stopped) return {};
      const OverloadOutcome outcome = simulation.run(*row.policy);
      for (std::size_t task = 0; task < kOverloadTasks; ++task) {
        row.mean.by_flows[task] += outcome.by_flows[task] / sweep.rounds;
        row.mean.by_count[task] += outcome.by_count[task] / sweep.rounds;
      }
      row.mean.lost_share += outcome.lost_share / sweep.rounds;
      row.load_1_pps += simulation.load_1_pps() / sweep.rounds;
      row.bound_by_flows += by_flows / sweep.rounds;
      row.bound_by_count += by_count / sweep.rounds;
      row.worst_by_flows = std::min(row.worst_by_flows, OverloadOutcome::sum(outcome.by_flows));
      row.worst_by_count = std::min(row.worst_by_count, OverloadOutcome::sum(outcome.by_count));
    }
  }
  return rows;
}

}  // namespace

std::vector<OverloadCell> overload_cells(bool quick) {
  constexpr auto chain = OverloadGraph::chain, tree = OverloadGraph::tree;
  std::vector<OverloadCell> cells;
  for (const OverloadGraph graph : {chain, tree}) {
    for (const double load : kSwings)
      if (!quick || load == 1.4 || load == 2) cells.push_back(cell_of(graph, true, load));
    for (const double load : kConstants)
      if (!quick || load == 1 || load == 1.4) cells.push_back(cell_of(graph, false, load));
    const auto few = [](OverloadCell& cell) { cell.flows = 2000; };
    const auto many = [](OverloadCell& cell) { cell.flows = 1'000'000; };
    const auto steady = [](OverloadCell& cell) { cell.noise = 0; };
    const auto noisy = [](OverloadCell& cell) { cell.noise = 0.1; };
    const auto jittery = [](OverloadCell& cell) { cell.jitter = 0.1; };
    const auto too_cheap = [](OverloadCell& cell) { cell.price_error = 0.6; };
    const auto too_dear = [](OverloadCell& cell) { cell.price_error = 1.4; };
    if (!quick || graph == chain) {
      add(cells, cell_of(graph, true, 1.6), few);
      add(cells, cell_of(graph, true, 1.4), jittery);
    }
    if (!quick || graph == tree) {
      add(cells, cell_of(graph, true, 1.6), many);
      add(cells, cell_of(graph, true, 1.8), too_cheap);
    }
    if (quick) continue;
    add(cells, cell_of(graph, false, 1.2), few);
    add(cells, cell_of(graph, false, 1.2), many);
    add(cells, cell_of(graph, true, 1.4), steady);
    add(cells, cell_of(graph, false, 1.2), steady);
    add(cells, cell_of(graph, true, 1.4), noisy);
    add(cells, cell_of(graph, false, 1.2), jittery);
    add(cells, cell_of(graph, true, 1.8), too_dear);
    cells.push_back(cell_of(graph, false, 5));
  }
  return cells;
}

bool is_no_worse(const OverloadRow& row, const OverloadRow& none) noexcept {
  return row.by_count() >= none.by_count() - kAlikeByCount && row.by_flows() >= none.by_flows() - kAlikeByFlows;
}

Result<std::size_t> simulate_overload(const OverloadSweep& sweep,
                                      const std::function<void(std::span<const OverloadRow>)>& done,
                                      const std::function<bool()>& stop) {
  std::vector<std::vector<OverloadRow>> rows(sweep.cells.size());
  std::vector<bool> is_done(sweep.cells.size());
  std::mutex mutex;
  std::condition_variable any_done;
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> stopped = false;
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i)
    threads.emplace_back([&] {
      for (std::size_t cell = next++; cell < sweep.cells.size(); cell = next++) {
        auto simulated = stopped ? std::vector<OverloadRow>() : simulate(sweep, sweep.cells[cell], stopped);
        const std::lock_guard lock(mutex);
        rows[cell] = std::move(simulated);
        is_done[cell] = true;
        any_done.notify_one();
      }
    });
  for (std::size_t cell = 0; cell < sweep.cells.size(); ++cell) {
    std::unique_lock lock(mutex);
    while (!any_done.wait_for(lock, std::chrono::milliseconds(100), [&] { return is_done[cell]; }))
      stopped = stopped || stop();
    if (rows[cell].empty()) return cell;
    lock.unlock();
    done(rows[cell]);
  }
  return sweep.cells.size();
}

}  // namespace parshall::lab
