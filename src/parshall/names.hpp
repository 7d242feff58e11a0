// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/choices.hpp"
#include "base/named.hpp"
#include "parshall/plan.hpp"

namespace parshall {

inline constexpr Named<Identity> kIdentityNames[] = {
    {"exact", Identity::exact}, {"fingerprint", Identity::fingerprint}, {"nic-hash", Identity::nic_hash}};
inline constexpr Named<Scheduler> kSchedulerNames[] = {
    {"other", Scheduler::other}, {"fifo", Scheduler::fifo}, {"deadline", Scheduler::deadline}};
inline constexpr Named<QuantileMethod> kQuantileNames[] = {{"histogram", QuantileMethod::histogram},
                                                           {"p2", QuantileMethod::p2}};

}  // namespace parshall
