// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "pipeline/measure/windows/flow_measure.hpp"

namespace parshall {

/// Round-trip times from the capture point to a flow's sender and back: from a segment that was sent to it to the
/// flow's packet that acknowledges it.
struct RoundTrips {
  std::uint64_t sum_ns, min_ns, max_ns;
  std::uint32_t samples;
  std::uint32_t ambiguous;  ///< not among the samples: TcpFinding::rtt_ambiguous

  static std::shared_ptr<const FlowMeasure> measure();
};

/// From the SYN to the flow's packet that ended the handshake.
struct Handshake {
  std::uint64_t after_ns;  ///< that time + 1; 0: not in the window

  static std::shared_ptr<const FlowMeasure> measure();
};

/// How many of them were outside mean +- `beta` standard deviations of those that the flow had before, once there were
/// `after` of them.
struct LatencyChanges {
  std::uint64_t changes;

  static std::shared_ptr<const FlowMeasure> beyond(double beta, std::uint32_t after);
};

}  // namespace parshall
