// SPDX-License-Identifier: Apache-2.0
#include "lab/states/experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "control/recall.hpp"
#include "engine/tables.hpp"
#include "lab/profile/frames.hpp"
#include "lab/profile/stage_run.hpp"
#include "pipeline/measure/states/state_plan.hpp"

namespace parshall::lab {
namespace {

constexpr StatesWayEntry kStatesWays[] = {
    {"one-state", "all flows are in one state, without a controller", StatesWay::one_state},
    {"counted", "several states, and packets are counted by state", StatesWay::counted},
    {"decided", "likewise, and a controller decides after each window to change nothing", StatesWay::decided},
    {"changing", "likewise, and the controller reduces all flows, then restores them in the next window",
     StatesWay::changing},
    {"estimates", "only the estimates after each window of what tasks miss", StatesWay::estimates},
};

constexpr std::size_t kStatesBatch = 256, kLeastSample = std::size_t{1} << 18;
constexpr double kLeastReduced = 0.4, kMostReduced = 0.6;  ///< limits if flows are reduced in every other window

std::uint64_t window_packets(double rate_pps) noexcept {
  return static_cast<std::uint64_t>(std::round(rate_pps * 1e-9 * static_cast<double>(StatesSweep::kWindowNs)));
}

/// Returns TOML for a chain whose heaviest states have equally many flows, and the lightest none, so that all can be
/// reduced.
std::string chain_of(std::size_t states) {
  std::string text = fmt::format("default = \"s{}\"\n", std::min<std::size_t>(states, 2));
  for (std::size_t state = 1; state <= states; ++state) {
    text += fmt::format("[[state]]\nname = \"s{}\"\ntasks = [\"count\", \"bursty:most=1000\"]\n", state);
    if (state > 1) text += fmt::format("lighter = \"s{}\"\n", state - 1);
  }
  const std::size_t rules = std::min(states - std::min<std::size_t>(states, 2), StatePlan::kMostRules);
  for (std::size_t rule = 1; rule <= rules; ++rule)
    text += fmt::format("[[rule]]\nstate = \"s{}\"\nshare = {}\n", states - rules + rule,
                        1 / static_cast<double>(rule + 1));
  return text;
}

/// A policy that leaves out all flows in a window after an overload.
class Toggle final : public OverloadPolicy {
 public:
  bool end_window(const ControlWindow& window, std::span<const FollowedTask>) noexcept override {
    return std::exchange(overloaded_, window.missed != 0) != overloaded_;
  }
  double share(std::size_t, std::size_t, std::size_t) const noexcept override { return overloaded_ ? 0 : 1; }
  OverloadState state() const noexcept override { return {.is_reduced = overloaded_}; }

 private:
  bool overloaded_ = false;
};

class StatesContestant {
 public:
  virtual ~StatesContestant() = default;
  virtual void run(std::size_t packets) = 0;
  virtual double packets_reduced_share() const { return 0; }
};

/// Plays whole windows by count, since packets come at a constant rate.
class MonitorWithStates final : public StatesContestant {
 public:
  /// Throws std::bad_alloc.
  static Result<std::unique_ptr<StatesContestant>> make(const StatesSweep& sweep, const StatesRow& row,
                                                        const Frames& frames) {
    const std::size_t states = row.way->way == StatesWay::one_state ? 1 : row.states;
    const auto file = StateFile::parse(chain_of(states), "a chain");
    if (!file) return file.error();
    const auto tasks =
        TaskSets::make(file->tasks, {.window = {WindowLength::Unit::ns, StatesSweep::kWindowNs}, .seed = sweep.seed});
    if (!tasks) return tasks.error();
    auto plan = file->plan_for(*tasks, sweep.seed);
    if (!plan) return plan.error();
    const auto table = find_table("bucketed", Identity::exact);
    if (!table) return table.error();
    FlowStageOptions options{.flows = 2 * row.flows, .snapshots = false, .seed = sweep.seed, .can_wait = false};
    options.windows = tasks->windows(states);
    options.findings = tasks->findings(states);
    if (states > 1) options.states = std::make_shared<const StatePlan>(*std::move(plan));
    if (row.way->way >= StatesWay::decided) options.control = control_of(options);
    return std::unique_ptr<StatesContestant>(new MonitorWithStates(sweep, row, frames, (*table)->make(options)));
  }

  void run(std::size_t packets) override {
    for (std::size_t some; packets != 0; packets -= some) {
      some = std::min(packets, static_cast<std::size_t>(left_));
      run_.run(some);
      left_ -= some;
      if (left_ == 0) end_window();
    }
  }

  double packets_reduced_share() const override {
    std::uint64_t all = 0, kept = 0;
    for (const StatePackets& state : run_.state_packets()) all += state.all, kept += state.kept;
    return all == 0 ? 0 : 1 - static_cast<double>(kept) / static_cast<double>(all);
  }

 private:
  MonitorWithStates(const StatesSweep& sweep, const StatesRow& row, const Frames& frames,
                    std::unique_ptr<FlowStage> stage)
      : way_(row.way->way),
        window_packets_(row.window_packets),
        left_(row.window_packets),
        run_(std::move(stage), FlowIdentity(KeyFields::five_tuple, Identity::exact, sweep.seed), frames.source(0),
             kStatesBatch) {}

  /// Makes a plan that moves all flows to the lightest state, which has the same tasks, in an overload.
  static std::shared_ptr<const ControlPlan> control_of(const FlowStageOptions& options) {
    static constexpr OverloadPolicyEntry kToggle{
        "toggle", "",
        [](const OverloadSetup&) -> std::unique_ptr<OverloadPolicy> { return std::make_unique<Toggle>(); }};
    const std::uint64_t all = ~std::uint64_t{0} >> (64 - options.states->names.size()),
                        heavier = all & ~std::uint64_t{1};
    ControlPlan plan{.policy = &kToggle, .window_ns = StatesSweep::kWindowNs, .batch = kStatesBatch};
    plan.setup = {.tasks = 1, .base_ns = 1, .part_ns = {1}};
    plan.reduced = *ReducedStates::make({&heavier, 1}, options.states->lighter, StatePlan::kMostStates);
    plan.parts_of_state.assign(plan.reduced.states(), ControlPlan::kRowPart);
    plan.groups = {{.states = heavier}};
    plan.tasks_of_group.resize(1);
    return std::make_shared<const ControlPlan>(std::move(plan));
  }

  /// Ends a window with a reported load of 30 %. In every other window, in which flows should change, it reports ten
  /// times the packets.
  void end_window() {
    constexpr std::uint64_t kTicks = 1000, kBusyTicks = 300, kOverload = 10;
    run_.take_window_messages([](std::span<const std::byte>) {});
    left_ = window_packets_;
    load_.polled += window_packets_;
    load_.all_ticks += kTicks;
    load_.busy_ticks += kBusyTicks;
    load_.rounds += window_packets_ / kStatesBatch + 1;
    load_.round_cycles += 1;
    overloaded_ = way_ == StatesWay::changing && !overloaded_;
    if (overloaded_) load_.missed += (kOverload - 1) * window_packets_;
    if (way_ >= StatesWay::decided) run_.end_control_window(load_);
  }

  StatesWay way_;
  std::uint64_t window_packets_, left_;
  WorkerLoad load_;
  bool overloaded_ = false;
  StageRun run_;
};

/// Estimates the recall of tasks that saw two thirds of the flows.
class Estimates final : public StatesContestant {
 public:
  Estimates(const StatesSweep& sweep, const StatesRow& row)
      : window_packets_(row.window_packets), flows_(row.flows), random_(sweep.seed), tasks_(sweep.tasks) {}

  void run(std::size_t packets) override {
    for (packets_ += packets; packets_ >= window_packets_; packets_ -= window_packets_)
      for (RecallByWeight& task : tasks_) {
        RecallByWeight::Counts flows{}, events{}, missed{};
        for (std::size_t i = 0; i < flows.size(); ++i) {
          flows[i] = flows_ / flows.size();
          events[i] = random_.below(1 + flows[i] / 4);
          missed[i] = flows[i] / 2;
        }
        task.add_window(flows, events);
        told_ = task.recall(missed).value_or(Recall{}).expected;
      }
  }

 private:
  std::uint64_t window_packets_, packets_ = 0;
  std::size_t flows_;
  SplitMix64 random_;
  std::vector<RecallByWeight> tasks_;
  volatile double told_ = 0;  ///< prevents the compiler from removing the computation
};

Result<std::unique_ptr<StatesContestant>> contestant_of(const StatesSweep& sweep, const StatesRow& row,
                                                        const Frames& frames) {
  if (row.way->way == StatesWay::estimates) return std::unique_ptr<StatesContestant>(new Estimates(sweep, row));
  return MonitorWithStates::make(sweep, row, frames);
}

/// Measures a case; returns no rows if `stop` returned true.
Result<std::vector<StatesRow>> measure_case(const StatesSweep& sweep, std::size_t states, std::size_t flows,
                                            const std::function<bool()>& stop) {
  const std::uint64_t window = window_packets(sweep.rate_pps);
  if (flows > window)
    return Error{fmt::format("{} flows and {} packets in a window of 10 ms: give at most as many flows as packets",
                             flows, window)};
  const auto spec = TrafficSpec::parse(
      fmt::format("flows={},packets={},rate={}", flows, std::max<std::uint64_t>(1 << 16, flows), sweep.rate_pps));
  if (!spec) return spec.error();
  const auto frames = Frames::of_spec(*spec);
  if (!frames) return frames.error();
  const std::size_t sample = 2 * window * ((kLeastSample + 2 * window - 1) / (2 * window));
  std::vector<StatesRow> rows;
  std::vector<std::unique_ptr<StatesContestant>> contestants;
  std::vector<Variant> variants;
  for (const StatesWayEntry& way : kStatesWays) {
    rows.push_back({.way = &way, .states = states, .flows = flows, .window_packets = window, .cost = {}});
    auto made = contestant_of(sweep, rows.back(), *frames);
    if (!made) return made.error();
    StatesContestant& contestant = *contestants.emplace_back(*std::move(made));
    contestant.run(sample);
    variants.push_back(
        {.name = std::string(way.name), .run = [&contestant](std::size_t count) { contestant.run(count); }});
  }
  const std::vector<Cost> costs = Harness(sample, sweep.rounds, 2 * window).measure(variants, stop);
  if (costs.empty()) return std::vector<StatesRow>();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].cost = costs[i];
    rows[i].packets_reduced_share = contestants[i]->packets_reduced_share();
    const double reduced = rows[i].packets_reduced_share;
    if (rows[i].way->way == StatesWay::changing && !(reduced >= kLeastReduced && reduced <= kMostReduced))
      return Error{fmt::format("{} flows in {} states did not all change: {:.2g} of the packets were of reduced flows",
                               flows, states, reduced)};
  }
  return rows;
}

}  // namespace

std::span<const StatesWayEntry> states_ways() noexcept { return kStatesWays; }

Result<std::size_t> measure_states(const StatesSweep& sweep,
                                   const std::function<void(std::span<const StatesRow>)>& done,
                                   const std::function<bool()>& stop) {
  std::size_t parts = 0;
  for (const std::size_t states : sweep.states)
    for (const std::size_t flows : sweep.flows) {
      const auto rows = measure_case(sweep, states, flows, stop);
      if (!rows) return rows.error();
      if (rows->empty()) return parts;
      done(*rows);
      ++parts;
    }
  return parts;
}

}  // namespace parshall::lab
