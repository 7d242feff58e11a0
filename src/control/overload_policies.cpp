// SPDX-License-Identifier: Apache-2.0
#include "control/adaptive_policy.hpp"
#include "control/overload_policy.hpp"

namespace parshall {
namespace {

std::vector<OverloadPolicyEntry>& policies() {
  static std::vector<OverloadPolicyEntry> all{
      {"adapt", "tasks follow the flows that show most for their time, so that no packet is lost",
       [](const OverloadSetup& setup) -> std::unique_ptr<OverloadPolicy> {
         return std::make_unique<AdaptivePolicy>(setup);
       }},
      {"off", "tasks follow all flows, and packets are lost",
       [](const OverloadSetup&) -> std::unique_ptr<OverloadPolicy> { return nullptr; }},
  };
  return all;
}

}  // namespace

std::span<const OverloadPolicyEntry> overload_policies() noexcept { return policies(); }

const OverloadPolicyEntry& no_adaptation() noexcept { return policies()[1]; }

void add_overload_policies(std::span<const OverloadPolicyEntry> more) {
  policies().insert(policies().end(), more.begin(), more.end());
}

}  // namespace parshall
