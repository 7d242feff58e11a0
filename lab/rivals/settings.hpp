// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "parshall/plan_settings.hpp"

namespace parshall::lab {

/// Returns the settings of a plan that choose among rivals. The product has one form of each.
std::vector<PlanSetting> rival_settings();

}  // namespace parshall::lab
