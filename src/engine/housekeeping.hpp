// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "engine/flow_stage.hpp"

namespace parshall {

/// Does some housekeeping, more if nothing else waits. Returns true if all is done.
inline bool keep_house(FlowStage& stage, LinkPlace now, bool is_idle) noexcept {
  constexpr int kIdleSlices = 64;  // about 100 us
  for (int slices = is_idle ? kIdleSlices : 1; slices > 0; --slices)
    if (!stage.housekeep(now)) return true;
  return false;
}

}  // namespace parshall
