// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace parshall::lab {

/// Time of one kind of work, if its lines are in a cache, and if they are in memory.
struct HotCold {
  double hot_ns, cold_ns;

  double ns(bool is_cold) const noexcept { return is_cold ? cold_ns : hot_ns; }
  /// Returns the mean, if this share of packets finds its lines in memory.
  double mean_ns(double cold_share) const noexcept { return hot_ns + cold_share * (cold_ns - hot_ns); }
};

/// Times of a packet's work in the simulated monitor.
///
/// Source: `parshall bench profile --states FILE -g flows=N,protocol=connections,resend=0.005,rate=6000000
///         --rounds 5 --memory 128Mi` on two shared cores of an Intel Xeon (model 167): hot with 512 flows, cold with
///         250,000 that send in turn. Two costs are fitted to `parshall bench adaptive --scenario rates --states chain`
///         there: following a connection, and lost segments. It took 6.5 million packets a second without losses, 5.4
///         with 39 % lost, and 5.1 with 61 %. Counting has become cheaper since: a packet of a flow that no task
///         follows took 127 ns (hot) and 151 ns (cold) before that, and 83 and 112 ns afterwards, measured in turn on
///         an AMD EPYC. The times here are those of the Xeon, times 0.65 and 0.74.
struct PacketCosts {
  HotCold counting{41, 62};  ///< and asking the source for the packet
  double row_ns = 1.2;       ///< adding to a row of a window
  double new_row_ns = 51;    ///< beginning one
  HotCold gaps{12, 38};      ///< times between packets
  HotCold tcp{50, 165};      ///< following a connection
  HotCold round_trips{2, 17};
  double lost_segment_ns = 125;   ///< segments missing in front of a packet of a connection that is followed
  double new_connection_ns = 60;  ///< a flow that is not followed yet, or was not for a while
  double mixed_ns = 7;            ///< if every other packet is followed, since branches are mispredicted
  double batch_ns = 170, wait_ns = 10'000;
  /// A flow's lines are in memory if this many packets came since its last.
  std::uint32_t cold_after = 10'000;
};

}  // namespace parshall::lab
