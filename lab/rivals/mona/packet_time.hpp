// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

namespace parshall::lab {

/// Time that a worker needs for a packet, in ns, without the tasks of its monitoring state.
///
/// Error:  batches prefetch and overlap, so the sum of the parts is an upper bound; measurements of whole batches
///         correct it.
/// Source: equations 1 to 4 of Tangari et al., MONA, IEEE/ACM ToN 2020, plus the time of the input, which they leave
/// out.
struct PacketTime {
  double input_ns = 0;        ///< for every packet
  double new_flow_ns = 0;     ///< for a flow's first packet, everything but the input
  double cached_ns = 0;       ///< to find the flow of another packet in the cache
  double uncached_ns = 0;     ///< to find it in memory
  double new_flow_share = 0;  ///< share of packets, 0 to 1
  double hit_probability = 1;

  double retrieval_ns() const noexcept { return cached_ns * hit_probability + uncached_ns * (1 - hit_probability); }

  /// Returns the total time if the tasks take `processing_ns` of a packet that starts no flow.
  double total_ns(double processing_ns) const noexcept {
    return input_ns + (1 - new_flow_share) * (retrieval_ns() + processing_ns) + new_flow_share * new_flow_ns;
  }

  /// Returns the time available for tasks at this packet rate; below 0 if even none is too much. Returns nullopt if any
  /// time will do, because no packets come, or all of them start flows and there is time for those.
  std::optional<double> processing_target_ns(double offered_pps) const noexcept {
    if (offered_pps <= 0) return std::nullopt;
    const double left_ns = 1e9 / offered_pps - input_ns - new_flow_share * new_flow_ns;
    if (new_flow_share >= 1) return left_ns >= 0 ? std::nullopt : std::optional(left_ns);
    return left_ns / (1 - new_flow_share) - retrieval_ns();
  }
};

}  // namespace parshall::lab
