// SPDX-License-Identifier: Apache-2.0
#include "lab/steps_experiment.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numbers>
#include <optional>

#include "base/random.hpp"
#include "control/adaptation.hpp"

namespace parshall::lab {
namespace {

using StepChange = GapRecovery::StepChange;

constexpr StepPolicy kPolicies[] = {
    {"MM", "it is doubled, and halved", StepChange::multiply, StepChange::multiply},
    {"MA", "it is doubled, and the first one is taken off", StepChange::multiply, StepChange::add},
    {"AM", "the first one is added, and it is halved", StepChange::add, StepChange::multiply},
    {"AA", "the first one is added, and taken off", StepChange::add, StepChange::add},
};

constexpr std::size_t kTasks = 4;
constexpr double kThreshold = 0.75;
constexpr std::size_t kMostWindows = 200, kInARow = 10;

double uniform(SplitMix64& random, double low, double high) noexcept { return low + (high - low) * random.uniform(); }

double normal(SplitMix64& random) noexcept {
  const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
  return radius * std::cos(2 * std::numbers::pi * random.uniform());
}

/// Which tasks a state has, as bits; the states that they give way to. Those of figure 6 of the MONA paper.
struct Shape {
  std::array<std::uint8_t, 5> tasks, lighter;
  std::size_t states;
};
constexpr Shape kShapes[] = {{{0, 0b1, 0b11, 0b111, 0b1111}, {0, 0, 1, 2, 3}, 5},
                             {{0, 0b0011, 0b0110, 0b1100}, {0, 0, 0, 0}, 4}};

StateGraph any_graph(const Shape& shape, SplitMix64& random) {
  std::array<double, kTasks> cost_ns;
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

/// What is adapted to.
class Case {
 public:
  explicit Case(std::uint64_t seed)
      : random_(seed), shape_(kShapes[random_.below(std::size(kShapes))]), graph_(any_graph(shape_, random_)) {
    for (std::size_t state = 0; state < shape_.states; ++state) packets_.push_back(uniform(random_, 0.5, 1.5));
    for (std::size_t task = 0; task < kTasks; ++task) {
      exponents_[task] = uniform(random_, 0.3, 2);
      for (std::size_t state = 0; state < shape_.states; ++state)
        states_[task] |= std::uint64_t{shape_.tasks[state] >> task & 1u} << state;
    }
    const double all_ns = graph_.mean_cost_ns(packets_);
    shift_ = shift_to(graph_, packets_, uniform(random_, 0.6, 0.98) * all_ns);
  }

  /// Nothing: not within kMostWindows.
  std::optional<std::size_t> windows(const StepPolicy& policy, double first_step, double error) const {
    SplitMix64 random = random_;
    GapRecovery recovery(graph_, {.first_step = first_step, .grows = policy.grows, .shrinks = policy.shrinks});
    Allocation adapted(graph_);
    adapted.apply(graph_, shift_);
    std::array<GapRecovery::Task, kTasks> tasks;
    for (std::size_t task = 0; task < kTasks; ++task)
      tasks[task] = {.states = states_[task], .threshold = kThreshold, .recall = std::nullopt};
    std::size_t in_a_row = 0;
    for (std::size_t window = 0; window < kMostWindows; ++window) {
      Allocation in_force = adapted;
      recovery.apply(graph_, packets_, in_force);
      bool enough = true;
      for (std::size_t task = 0; task < kTasks; ++task) {
        const double recall = recall_of(task, in_force);
        enough &= recall >= kThreshold;
        tasks[task].recall = std::clamp(recall * (1 + error * normal(random)), 0.0, 1.0);
      }
      in_a_row = enough ? in_a_row + 1 : 0;
      if (in_a_row == kInARow) return window + 1 - kInARow;
      recovery.step(graph_, tasks, packets_, adapted);
    }
    return std::nullopt;
  }

 private:
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

  SplitMix64 random_;
  Shape shape_;
  StateGraph graph_;
  std::vector<double> packets_;
  std::array<double, kTasks> exponents_{};
  std::array<std::uint64_t, kTasks> states_{};
  Shift shift_;
};

/// Nothing when `stop` said so.
Result<std::vector<StepsRow>> measure_round(const StepsSweep& sweep, std::uint64_t seed,
                                            const std::function<bool()>& stop) {
  std::vector<StepsRow> rows;
  for (const double first_step : sweep.first_steps)
    for (const StepPolicy* policy : sweep.policies)
      rows.push_back({.policy = policy, .first_step = first_step, .windows = {}, .reached_share = 0, .cases = 0});
  std::vector<std::vector<double>> windows(rows.size());
  std::vector<std::optional<std::size_t>> found(rows.size());
  for (std::size_t i = 0; i < sweep.cases; ++i) {
    if (stop()) return std::vector<StepsRow>();
    const Case of(SplitMix64::mix(seed) + i);
    for (std::size_t row = 0; row < rows.size(); ++row)
      found[row] = of.windows(*rows[row].policy, rows[row].first_step, sweep.error);
    const auto reached = [](const std::optional<std::size_t>& at) { return at.has_value(); };
    const auto at_once = [](const std::optional<std::size_t>& at) { return at == std::size_t{0}; };
    // Where none gets there is no time for it, and where all are there from the beginning there is nothing to do.
    if (std::ranges::none_of(found, reached) || std::ranges::all_of(found, at_once)) continue;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      windows[row].push_back(static_cast<double>(found[row].value_or(kMostWindows)));
      rows[row].reached_share += found[row].has_value();
      ++rows[row].cases;
    }
  }
  if (rows.front().cases == 0)
    return Error{"no case in which accuracy control has anything to do: give it more --cases"};
  for (std::size_t row = 0; row < rows.size(); ++row) {
    rows[row].windows = mean_interval(windows[row]);
    rows[row].reached_share /= static_cast<double>(rows[row].cases);
  }
  return rows;
}

}  // namespace

std::span<const StepPolicy> step_policies() noexcept { return kPolicies; }

Result<std::size_t> measure_steps(const StepsSweep& sweep, const std::function<void(std::span<const StepsRow>)>& done,
                                  const std::function<bool()>& stop) {
  for (int round = 0; round < sweep.rounds; ++round) {
    const auto rows = measure_round(sweep, sweep.seed + static_cast<std::uint64_t>(round), stop);
    if (!rows) return rows.error();
    if (rows->empty()) return static_cast<std::size_t>(round);
    done(*rows);
  }
  return static_cast<std::size_t>(sweep.rounds);
}

}  // namespace parshall::lab
