// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/tasks/registry.hpp"

namespace parshall {

extern const TaskEntry kCount, kHeavyHitters, kHierarchicalHeavyHitters, kSuperspreaders, kScans, kFloods, kBeacons,
    kNewHosts, kOutages, kVictims, kChange, kFlowSizes, kEntropy, kFlowQuantiles, kBursty, kRetransmissions,
    kLostSegments, kZeroWindows, kLatencyChange, kMicrobursts;

/// All tasks, in the order of `parshall list tasks`. To add one, write its file, its name here and above, and its test.
std::span<const TaskEntry* const> task_registry() noexcept {
  static constexpr const TaskEntry* kTasks[] = {&kCount,           &kHeavyHitters,  &kHierarchicalHeavyHitters,
                                                &kSuperspreaders,  &kScans,         &kFloods,
                                                &kBeacons,         &kNewHosts,      &kOutages,
                                                &kVictims,         &kChange,        &kFlowSizes,
                                                &kEntropy,         &kFlowQuantiles, &kBursty,
                                                &kRetransmissions, &kLostSegments,  &kZeroWindows,
                                                &kLatencyChange,   &kMicrobursts};
  return kTasks;
}

}  // namespace parshall
