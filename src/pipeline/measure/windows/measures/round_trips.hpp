// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "pipeline/measure/windows/flow_measure.hpp"

namespace parshall {

/// Round-trip times from the capture point to a flow's sender and back: from a segment sent to it to the flow's packet
/// that acknowledges it.
struct RoundTrips {
  std::uint64_t sum_ns, min_ns, max_ns;
  std::uint32_t samples;
  std::uint32_t ambiguous;  ///< not counted as samples; see TcpFinding::rtt_ambiguous

  static std::shared_ptr<const FlowMeasure> measure();
};

/// Time from the SYN to the flow's packet that ended the handshake.
struct Handshake {
  std::uint64_t after_ns;  ///< duration + 1; 0 if it did not end in the window

  static std::shared_ptr<const FlowMeasure> measure();
};

/// Counts round-trip times outside mean +- `beta` standard deviations of the flow's earlier ones, once there were
/// `after` of them.
struct LatencyChanges {
  std::uint64_t changes;

  static std::shared_ptr<const FlowMeasure> beyond(double beta, std::uint32_t after);
};

}  // namespace parshall
