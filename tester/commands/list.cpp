// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "tester/commands/test.hpp"
#include "tester/device/scenario.hpp"
#include "tester/search/search_goal.hpp"

namespace parshall::cli {
namespace {

void list_scenarios() {
  for (const tester::ScenarioEntry& entry : tester::scenario_registry())
    fmt::print("{:<10} {}{}\n", entry.name, entry.help,
               entry.settings.empty() ? "" : fmt::format(": {}:{}", entry.name, entry.settings));
}

void list_goals() {
  for (const tester::SearchGoal& goal : tester::preset_goals())
    fmt::print("{:<8} loss={:g}%,exceed={:g}%,trial={:g}s,sum={:g}s,width={:g}%,initial={:g}s\n", goal.name,
               100 * goal.loss_ratio, 100 * goal.exceed_ratio, goal.final_trial_s, goal.duration_sum_s,
               100 * goal.width, goal.initial_trial_s);
  fmt::print("your own: parshall test search --goal name=NAME,loss=..., with any of these settings\n");
}

}  // namespace

std::vector<Topic> test_topics() {
  return {{"scenarios", "devices that test run can make", list_scenarios},
          {"goals", "goals of a search for a rate: test search", list_goals}};
}

}  // namespace parshall::cli
