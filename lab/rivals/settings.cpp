// SPDX-License-Identifier: Apache-2.0
#include "lab/rivals/settings.hpp"

#include "parshall/names.hpp"
#include "parshall/settings.hpp"

namespace parshall::lab {
namespace {

constexpr Named<ControlPolicy> kPolicyNames[] = {{"tasks", ControlPolicy::tasks}, {"mona", ControlPolicy::mona}};
constexpr Named<Preference> kPreferenceNames[] = {{"packets", Preference::packets}, {"tasks", Preference::tasks}};
constexpr std::size_t kMostClassifiers = 256;

Settings flow_settings() {
  Settings s("Flows");
  s.text(
      "hash", "Hash of the key (parshall list hashes; default: aes)", [](auto& p) -> auto& { return p.flows.hash; });
  s.text(
      "table", "Flow table (parshall list tables)", [](auto& p) -> auto& { return p.flows.table; });
  return s;
}

Settings overload_settings() {
  Settings s("Tasks");
  s.flag("adapt-only", "Move flows to lighter states so that no packet is lost, regardless of what tasks miss",
         [](Plan& p) { p.tasks.adaptation = Adaptation::adapt_only; })
      .excludes = {"overload"};
  s.real(
       "accuracy", "Recall that each task should keep, from 0 to 1 (for one task: recall=)",
       [](auto& p) -> auto& { return p.tasks.accuracy; }, 0.0, 1.0)
      .excludes = {"adapt-only"};
  s.choice(
       "policy",
       "What to reduce so that tasks keep their recall: tasks, one by one; or flows, from state to state (mona)",
       kPolicyNames, [](auto& p) -> auto& { return p.tasks.policy; })
      .excludes = {"adapt-only"};
  s.choice(
       "prefer",
       "What --policy tasks prefers: packets (count all), or tasks (let as many as possible reach their recall; "
       "packets may be lost)",
       kPreferenceNames, [](auto& p) -> auto& { return p.tasks.prefer; })
      .excludes = {"adapt-only"};
  s.flag("no-shed",
         "Lose packets if even the lightest states take too long (default: inspect one connection in N, and scale the "
         "results of tasks)",
         [](Plan& p) { p.tasks.sheds = false; });
  return s;
}

Settings thread_settings() {
  Settings s("Threads");
  s.count(
      "classifiers",
      "Threads that classify flows; 0: each worker does it, which is faster with models of parshall train",
      [](auto& p) -> auto& { return p.flows.classifiers; }, 0, kMostClassifiers, "0");
  return s;
}

}  // namespace

std::vector<PlanSetting> rival_settings() {
  std::vector<PlanSetting> settings;
  for (auto* const make : {flow_settings, overload_settings, thread_settings}) make().move_to(settings);
  return settings;
}

}  // namespace parshall::lab
