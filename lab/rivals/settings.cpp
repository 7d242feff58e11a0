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
  s.flag("adapt-only", "Flows move to lighter states so that no packet is lost, whatever tasks then miss", [](Plan& p) {
     p.tasks.adaptation = Adaptation::adapt_only;
   }).excludes = {"overload"};
  s.real(
       "accuracy", "Recall that tasks should keep, each from 0 to 1 (of one task: recall=)",
       [](auto& p) -> auto& { return p.tasks.accuracy; }, 0.0, 1.0)
      .excludes = {"adapt-only"};
  s.choice(
       "policy",
       "What is reduced so that tasks keep their recall: tasks, one by one; or flows, from state to state (mona)",
       kPolicyNames, [](auto& p) -> auto& { return p.tasks.policy; })
      .excludes = {"adapt-only"};
  s.choice(
       "prefer",
       "What --policy tasks keeps first: packets (all are counted), or tasks (as many as can be have their recall, and "
       "packets may be lost)",
       kPreferenceNames, [](auto& p) -> auto& { return p.tasks.prefer; })
      .excludes = {"adapt-only"};
  s.flag("no-shed",
         "Lose packets where even the lightest states take too long (default: inspect one connection in N, and scale "
         "the results of tasks)",
         [](Plan& p) { p.tasks.sheds = false; });
  return s;
}

Settings thread_settings() {
  Settings s("Threads");
  s.count(
      "classifiers",
      "Threads that find the classes of flows; 0: each worker does, which is faster with the models of train",
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
