// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "pipeline/measure/windows/flow_measure.hpp"

namespace parshall {

/// How many packets came within a time of their flow's packet before.
struct Bursts {
  std::uint64_t packets;

  static std::shared_ptr<const FlowMeasure> within(std::uint64_t ns);
};

}  // namespace parshall
