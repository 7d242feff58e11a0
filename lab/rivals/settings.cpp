// SPDX-License-Identifier: Apache-2.0
#include "lab/rivals/settings.hpp"

#include "parshall/settings.hpp"

namespace parshall::lab {
namespace {

constexpr std::size_t kMostClassifiers = 256;

Settings flow_settings() {
  Settings s("Flows");
  s.text(
      "hash", "Hash of the key (parshall list hashes; default: aes)", [](auto& p) -> auto& { return p.flows.hash; });
  s.text(
      "table", "Flow table (parshall list tables)", [](auto& p) -> auto& { return p.flows.table; });
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
  for (auto* const make : {flow_settings, thread_settings}) make().move_to(settings);
  return settings;
}

}  // namespace parshall::lab
