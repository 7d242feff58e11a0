// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "compare/clocks.hpp"
#include "compare/pairing.hpp"

namespace parshall {

/// Delays of packets between two taps, in ns. Percentiles are exact (nearest rank).
struct Delays {
  std::uint64_t packets = 0;  ///< packets whose delay is clear
  std::int64_t least = 0, p50 = 0, p90 = 0, p99 = 0, most = 0;
  double mean = 0;
  std::optional<double> variation;  ///< mean of |D(i) - D(i-1)| of a flow's packets as they arrived (RFC 3393)
};

/// Counts what happened to packets that one tap sent on, and the other should have received.
/// Accounts: sent = delivered + lost + outside + unlike_sent, and received = delivered + duplicated + extra +
/// unlike_received.
struct Passed {
  std::uint64_t sent = 0, received = 0, delivered = 0, lost = 0;
  std::uint64_t outside = 0;  ///< the other tap did not watch yet, or not any more
  std::uint64_t unlike_sent = 0,
                unlike_received = 0;  ///< of flows of which both taps saw packets, none of them the same
  std::uint64_t duplicated = 0;       ///< received more often than sent
  std::uint64_t extra = 0;            ///< received, but not seen before
  std::uint64_t reordered = 0;        ///< received after a packet of the flow that was sent later (RFC 4737)
  std::uint64_t alike = 0;            ///< sent packets with an id that was sent more than once; see PacketIds
  Delays delays;

  bool is_whole() const noexcept { return lost + unlike_sent + duplicated + extra + reordered == 0; }
};

enum class Way : std::uint8_t { there, back };  ///< from UP to DOWN, or the other way

/// A flow, which is one direction of a connection.
struct ComparedFlow {
  FlowKey key;                     ///< at UP if it was seen there
  std::optional<FlowKey> at_down;  ///< if it is another key there: NAT
  Way way = Way::there;
  Passed passed;
  std::uint64_t first_ns = std::numeric_limits<std::uint64_t>::max(),
                last_ns = 0;  ///< when packets were sent, by the clock of the tap that they passed first
};

struct Comparison {
  Passed there, back;
  Clocks clocks;
  std::vector<ComparedFlow> flows;  ///< those with the most lost packets first, then by packets sent
};

/// Compares what two taps saw. Sorts their packets.
Comparison compare(Tap& up, Tap& down, const FlowNumbers& flows);

}  // namespace parshall
