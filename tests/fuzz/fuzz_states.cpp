// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "pipeline/measure/states/flow_states.hpp"
#include "pipeline/measure/states/state_plan.hpp"
#include "targets.hpp"

namespace parshall::fuzz {
namespace {

void check_plan(const StatePlan& plan, std::size_t reporters) {
  const std::size_t states = plan.names.size();
  require(states >= 1 && states <= StatePlan::kMostStates && plan.lighter.size() == states && plan.first < states);
  require(plan.rules.size() <= StatePlan::kMostRules);
  for (const StateRule& rule : plan.rules) {
    require(rule.to < states && rule.from != 0);
    require(!rule.share || (*rule.share >= 0 && *rule.share <= 1));
    require(!rule.prefix || rule.prefix->bits <= (rule.prefix->ip_version == 6 ? 128 : 32));
    require(!rule.outcome || *rule.outcome < reporters);
  }
  // Every chain of lighter states ends.
  for (std::size_t state = 0; state < states; ++state) {
    std::size_t at = state, steps = 0;
    for (; plan.lighter[at] != at && steps <= states; ++steps) at = plan.lighter[at];
    require(steps < states);
  }
}

}  // namespace

/// Input: TOML of monitoring states.
void fuzz_states(Bytes input) {
  constexpr std::size_t kLongest = 4000;
  if (input.size() > kLongest) return;
  const std::string text(text_of(input));
  const auto file = StateFile::parse(text, "fuzz.toml");
  if (!file) return require(file.error().message.starts_with("fuzz.toml, line "));
  check_plan(file->plan, file->reporters.size());
  const auto tasks = file->tasks_of_states();
  require(tasks.size() == file->plan.names.size());
  std::uint64_t known = 0;
  for (std::size_t i = 0; i < tasks.size(); ++i) known |= std::uint64_t{1} << i;
  for (const TaskSpec& task : file->tasks) require(task.states != 0 && (task.states & ~known) == 0);
}

}  // namespace parshall::fuzz
