// SPDX-License-Identifier: Apache-2.0
#include "lab/adaptive/scenarios.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "pipeline/measure/states/state_plan.hpp"

namespace parshall::lab {
namespace {

constexpr std::string_view kChain = R"(
default = "s1"
state = [
  { name = "s1", tasks = ["count"] },
  { name = "s2", tasks = ["count", "HH"], lighter = "s1" },
  { name = "s3", tasks = ["count", "HH", "RTX"], lighter = "s2" },
  { name = "s4", tasks = ["count", "HH", "RTX", "BURSTY"], lighter = "s3" },
  { name = "s5", tasks = ["count", "HH", "RTX", "BURSTY", "LATENCY"], lighter = "s4" },
]
rule = [
  { state = "s2", share = 0.5 },
  { state = "s3", share = 0.3333333333333333 },
  { state = "s4", share = 0.25 },
  { state = "s5", share = 0.2 },
]
)";
constexpr std::string_view kTree = R"(
default = "s1"
state = [
  { name = "s1", tasks = ["count"] },
  { name = "s2", tasks = ["count", "HH", "RTX"], lighter = "s1" },
  { name = "s3", tasks = ["count", "RTX", "BURSTY"], lighter = "s1" },
  { name = "s4", tasks = ["count", "BURSTY", "LATENCY"], lighter = "s1" },
]
rule = [
  { state = "s2", share = 0.5 },
  { state = "s3", share = 0.3333333333333333 },
  { state = "s4", share = 0.25 },
]
)";
constexpr std::pair<std::string_view, std::string_view> kTasks[] = {
    {"HH", "heavy-hitters:threshold=0.1%,most=100000"},
    {"RTX", "retransmissions:most=100000"},
    {"BURSTY", "bursty:most=100000"},
    {"LATENCY", "latency-change:most=100000"},
};

constexpr StateConfig kPublished[] = {{"chain", "each state has the tasks of the one before and one more", kChain},
                                      {"tree", "three states of two tasks each, with one lighter state", kTree}};

/// Numbers of states and tasks for which decision times are published.
struct Size {
  std::size_t states, tasks;
};
constexpr Size kSizes[] = {{10, 4},  {20, 4},  {40, 4},  {64, 4},  {10, 10},
                           {10, 20}, {10, 50}, {20, 20}, {20, 40}, {40, 40}};
constexpr std::size_t kMostRules = StatePlan::kMostRules;

/// Keeps the texts of a chain.
struct Chain {
  std::string name, help, states;
};

/// Makes a chain whose heaviest state has all tasks, of four kinds, and whose other states have fewer. The heaviest
/// states have equally many flows.
Chain chain_of(Size size) {
  Chain chain{.name = fmt::format("{}x{}", size.states, size.tasks),
              .help = fmt::format("a chain of {} states with up to {} tasks", size.states, size.tasks),
              .states = "default = \"s1\"\n"};
  for (std::size_t state = 1; state <= size.states; ++state) {
    chain.states += fmt::format("[[state]]\nname = \"s{}\"\ntasks = [\"count\"", state);
    for (std::size_t task = 0; task < size.tasks * (state - 1) / (size.states - 1); ++task) {
      const auto& [kind, spec] = kTasks[task % std::size(kTasks)];
      chain.states += fmt::format(", \"{},name={}-{}\"", spec, kind, task);
    }
    chain.states += state == 1 ? "]\n" : fmt::format("]\nlighter = \"s{}\"\n", state - 1);
  }
  const std::size_t rules = std::min(size.states - 1, kMostRules);
  for (std::size_t rule = 1; rule <= rules; ++rule)
    chain.states += fmt::format("[[rule]]\nstate = \"s{}\"\nshare = {}\n", size.states - rules + rule,
                                1 / static_cast<double>(rule + 1));
  return chain;
}

const AdaptiveScenario kScenarios[] = {
    {"swing-250ms", "the rate swings from none to the load and back in 250 ms", "zipf:1.1", {1.6}, 0.25},
    {"swing-100ms", "the same in 100 ms", "zipf:1.1", {1.6}, 0.1},
    {"neighbour",
     "from a third to two thirds of the run, another core competes for the cache",
     "zipf:1.1",
     {0.9},
     0,
     0,
     true},
    {"skew",
     "the flows' skew falls from 1.5 to 1, at the rate possible with its median",
     "zipf:1.5-1",
     {1 / kBusyAtLoad1}},
    {"rates", "constant rates", "zipf:1.1", {0.6, 0.8, 1, 1.2, 1.4, 1.6}},
    {"dynamic",
     "the rate swings between load 1 and the load within a second; this is the paper's 5 to 11 Mpps",
     "zipf:1.1",
     {1.2, 1.4, 1.6, 1.8, 2, 2.2},
     1,
     /*least_load=*/1},
    {"overload", "five times the rate that the worker can handle", "zipf:1.1", {5}},
    {"flood",
     "a constant rate that includes a SYN flood, without and with a filter",
     "zipf:1.1",
     {1},
     0,
     0,
     false,
     {0, 0.25, 0.5, 0.8, 1},
     {0, 128}},
};

}  // namespace

std::span<const StateConfig> state_configs() {
  static const std::vector<Chain> chains = [] {
    std::vector<Chain> made;
    for (const Size size : kSizes) made.push_back(chain_of(size));
    return made;
  }();
  static const std::vector<StateConfig> configs = [] {
    std::vector<StateConfig> all(std::begin(kPublished), std::end(kPublished));
    for (const Chain& chain : chains) all.push_back({chain.name, chain.help, chain.states});
    return all;
  }();
  return configs;
}
std::span<const std::pair<std::string_view, std::string_view>> adaptive_tasks() noexcept { return kTasks; }
std::span<const AdaptiveScenario> adaptive_scenarios() noexcept { return kScenarios; }

}  // namespace parshall::lab
