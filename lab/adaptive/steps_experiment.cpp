// SPDX-License-Identifier: Apache-2.0
#include "lab/adaptive/steps_experiment.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>
#include <optional>

#include "base/random.hpp"
#include "lab/rivals/mona/adaptation.hpp"

namespace parshall::lab {
namespace {

using StepChange = GapRecovery::StepChange;

constexpr StepPolicy kPolicies[] = {
    {"MM", "doubles the step, halves it", StepChange::multiply, StepChange::multiply},
    {"MA", "doubles the step, subtracts --add", StepChange::multiply, StepChange::add},
    {"AM", "adds --add to the step, halves it", StepChange::add, StepChange::multiply},
    {"AA", "adds --add to the step, subtracts it", StepChange::add, StepChange::add},
};

constexpr std::size_t kTaskCount = 4;
constexpr double kThreshold = 0.75, kMargin = 0.02;  ///< wanted recall, and the margin of a solution
constexpr std::size_t kMostWindows = 200, kInARow = 10;

double uniform(SplitMix64& random, double low, double high) noexcept { return low + (high - low) * random.uniform(); }

double normal(SplitMix64& random) noexcept {
  const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
  return radius * std::cos(2 * std::numbers::pi * random.uniform());
}

/// Tasks of each state, as bits, and the state that each is reduced to. Those of figure 6 of the MONA paper.
struct Shape {
  std::array<std::uint8_t, 5> tasks, lighter;
  std::size_t states;
};
constexpr Shape kShapes[] = {{{0, 0b1, 0b11, 0b111, 0b1111}, {0, 0, 1, 2, 3}, 5},
                             {{0, 0b0011, 0b0110, 0b1100}, {0, 0, 0, 0}, 4}};

StateGraph any_graph(const Shape& shape, SplitMix64& random) {
  std::array<double, kTaskCount> cost_ns;
  for (double& cost : cost_ns) cost = uniform(random, 5, 60);
  std::vector<StateGraph::State> states;
  for (std::size_t state = 0; state < shape.states; ++state) {
    double all_ns = 20;
    for (unsigned left = shape.tasks[state]; left != 0; left &= left - 1)
      all_ns += cost_ns[static_cast<std::size_t>(std::countr_zero(left))];
    states.push_back({"s", shape.lighter[state], all_ns});
  }
  return *StateGraph::make(std::move(states));
}

/// A random situation: a load under which some allocation gives all tasks enough, but adaptation alone does not.
class Case {
 public:
  explicit Case(SplitMix64& random)
      : shape_(kShapes[random.below(std::size(kShapes))]), graph_(any_graph(shape_, random)) {
    for (std::size_t state = 0; state < shape_.states; ++state) packets_.push_back(uniform(random, 0.5, 1.5));
    for (std::size_t task = 0; task < kTaskCount; ++task) {
      exponents_[task] = uniform(random, 0.3, 2);
      for (std::size_t state = 0; state < shape_.states; ++state)
        states_[task] |= std::uint64_t{shape_.tasks[state] >> task & 1u} << state;
    }
    Allocation solved(graph_);
    for (std::uint8_t state = 1; state < shape_.states; ++state)
      solved.move(state, state, /*to=*/0, uniform(random, 0, 0.7));
    has_room_ = all_have(solved, kThreshold + kMargin);
    adapted_ = Allocation(graph_);
    adapted_.apply(graph_, shift_to(graph_, packets_, solved.mean_cost_ns(graph_, packets_)));
    noise_ = random();
  }

  bool is_one() const { return has_room_ && !all_have(adapted_, kThreshold); }

  /// Returns the windows needed, or nullopt if more than kMostWindows.
  std::optional<std::size_t> windows(const StepPolicy& policy, double first_step, const StepsSweep& sweep) const {
    SplitMix64 random(noise_);
    GapRecovery recovery(graph_, {.largest_part = 1,
                                  .first_step = first_step,
                                  .added_step = sweep.added_step,
                                  .grows = policy.grows,
                                  .shrinks = policy.shrinks});
    std::array<GapRecovery::Task, kTaskCount> tasks;
    for (std::size_t task = 0; task < kTaskCount; ++task)
      tasks[task] = {.states = states_[task], .threshold = kThreshold, .recall = std::nullopt};
    std::size_t in_a_row = 0;
    for (std::size_t window = 0; window < kMostWindows; ++window) {
      Allocation in_force = adapted_;
      recovery.apply(graph_, packets_, in_force);
      for (std::size_t task = 0; task < kTaskCount; ++task)
        tasks[task].recall = std::clamp(recall_of(task, in_force) * (1 + sweep.error * normal(random)), 0.0, 1.0);
      in_a_row = all_have(in_force, kThreshold) ? in_a_row + 1 : 0;
      if (in_a_row == kInARow) return window + 1 - kInARow;
      recovery.step(graph_, tasks, packets_, adapted_);
    }
    return std::nullopt;
  }

 private:
  bool all_have(const Allocation& in_force, double recall) const {
    for (std::size_t task = 0; task < kTaskCount; ++task)
      if (recall_of(task, in_force) < recall) return false;
    return true;
  }

  double recall_of(std::size_t task, const Allocation& in_force) const {
    double all = 0, seen = 0;
    for (std::uint8_t base = 0; base < graph_.size(); ++base) {
      if ((states_[task] >> base & 1) == 0) continue;
      all += packets_[base];
      in_force.each_part(base, [&](std::uint8_t to, double share) {
        if ((states_[task] >> to & 1) != 0) seen += share * packets_[base];
      });
    }
    return std::pow(std::min(1.0, seen / all), exponents_[task]);
  }

  Shape shape_;
  StateGraph graph_;
  std::vector<double> packets_;
  std::array<double, kTaskCount> exponents_{};
  std::array<std::uint64_t, kTaskCount> states_{};
  Allocation adapted_{graph_};
  bool has_room_ = false;
  std::uint64_t noise_ = 0;  ///< seed; the same for all policies
};

/// Compares the policies for one first step.
class Contest {
 public:
  Contest(const StepsSweep& sweep, double first_step)
      : sweep_(sweep), first_step_(first_step), windows_(sweep.policies.size()), reached_(sweep.policies.size()) {}

  void add(const Case& one) {
    std::vector<std::optional<std::size_t>> found;
    for (const StepPolicy* policy : sweep_.policies) found.push_back(one.windows(*policy, first_step_, sweep_));
    const bool all = std::ranges::all_of(found, [](const auto& at) { return at.has_value(); });
    for (std::size_t i = 0; i < found.size(); ++i) {
      reached_[i].push_back(found[i] ? 1 : 0);
      if (all) windows_[i].push_back(static_cast<double>(*found[i]));
    }
  }

  void tell(std::vector<StepsRow>& rows) const {
    for (std::size_t i = 0; i < sweep_.policies.size(); ++i)
      rows.push_back({.policy = sweep_.policies[i],
                      .first_step = first_step_,
                      .windows = mean_interval(windows_[i]),
                      .reached_share = mean_interval(reached_[i]),
                      .cases = reached_[i].size(),
                      .reached_by_all = windows_[i].size()});
  }

 private:
  const StepsSweep& sweep_;
  double first_step_;
  std::vector<std::vector<double>> windows_, reached_;  ///< by policy and case
};

/// Measures a round; returns no rows if `stop` returned true.
std::vector<StepsRow> measure_round(const StepsSweep& sweep, std::uint64_t seed, const std::function<bool()>& stop) {
  SplitMix64 random(SplitMix64::mix(seed));
  std::vector<Contest> contests;
  for (const double first_step : sweep.first_steps) contests.emplace_back(sweep, first_step);
  for (std::size_t cases = 0; cases < sweep.cases;) {
    if (stop()) return {};
    const Case one(random);
    if (!one.is_one()) continue;
    ++cases;
    for (Contest& contest : contests) contest.add(one);
  }
  std::vector<StepsRow> rows;
  for (const Contest& contest : contests) contest.tell(rows);
  return rows;
}

}  // namespace

std::span<const StepPolicy> step_policies() noexcept { return kPolicies; }

Result<std::size_t> measure_steps(const StepsSweep& sweep, const std::function<void(std::span<const StepsRow>)>& done,
                                  const std::function<bool()>& stop) {
  for (int round = 0; round < sweep.rounds; ++round) {
    const auto rows = measure_round(sweep, sweep.seed + static_cast<std::uint64_t>(round), stop);
    if (rows.empty()) return static_cast<std::size_t>(round);
    done(rows);
  }
  return static_cast<std::size_t>(sweep.rounds);
}

}  // namespace parshall::lab
