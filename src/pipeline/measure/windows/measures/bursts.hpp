// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "pipeline/measure/windows/flow_measure.hpp"

namespace parshall {

/// Counts packets that came within a time after their flow's previous packet.
struct Bursts {
  std::uint64_t packets;

  static std::shared_ptr<const FlowMeasure> within(std::uint64_t ns);
};

}  // namespace parshall
