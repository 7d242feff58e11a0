// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

namespace parshall {

/// What a packet takes a worker, in ns, without the tasks of its monitoring state.
///
/// Error:  batches ask for memory beforehand and overlap, so that the sum of the parts is an upper bound; what is
///         measured of whole batches corrects it.
/// Source: equations 1 to 4 of Tangari et al., MONA, IEEE TNSM 2020, with the input's share, which they leave out.
struct PacketTime {
  double input_ns = 0;        ///< of every packet
  double new_flow_ns = 0;     ///< of a flow's first packet, all in all but for the input
  double cached_ns = 0;       ///< to find another packet's flow where the cache has it
  double uncached_ns = 0;     ///< and where memory has it
  double new_flow_share = 0;  ///< of the packets, 0 to 1
  double hit_probability = 1;

  double retrieval_ns() const noexcept { return cached_ns * hit_probability + uncached_ns * (1 - hit_probability); }

  /// Where the tasks take `processing_ns` of a packet that starts no flow.
  double total_ns(double processing_ns) const noexcept {
    return input_ns + (1 - new_flow_share) * (retrieval_ns() + processing_ns) + new_flow_share * new_flow_ns;
  }

  /// What tasks may take where packets come at this rate: below 0 where even none is too much. Nothing where any time
  /// will do: no packets come, or all of them start flows and there is time for those.
  std::optional<double> processing_target_ns(double offered_pps) const noexcept {
    if (offered_pps <= 0) return std::nullopt;
    const double left_ns = 1e9 / offered_pps - input_ns - new_flow_share * new_flow_ns;
    if (new_flow_share >= 1) return left_ns >= 0 ? std::nullopt : std::optional(left_ns);
    return left_ns / (1 - new_flow_share) - retrieval_ns();
  }
};

}  // namespace parshall
