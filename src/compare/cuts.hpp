// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "compare/clocks.hpp"

namespace parshall {

/// Sums over packets, modulo 2^64; see the statistic Digest.
struct PacketSums {
  std::uint64_t packets = 0, names = 0, times_ns = 0;
  std::uint64_t repeats = 0;  ///< modulo 2^24

  PacketSums& operator+=(const PacketSums& other) noexcept {
    packets += other.packets, names += other.names, times_ns += other.times_ns, repeats += other.repeats;
    return *this;
  }
  friend PacketSums operator-(const PacketSums& a, const PacketSums& b) noexcept {
    return {a.packets - b.packets, a.names - b.names, a.times_ns - b.times_ns, a.repeats - b.repeats};
  }
};

/// A packet that a tap chose by its name, and the sums over the flow's packets up to and with it.
struct Cut {
  std::uint64_t name, time_ns;
  PacketSums sums;
  std::uint64_t weight;  ///< packets of the record that it is the smallest name of
};

/// The sums and cuts of a flow at one tap.
struct TapSums {
  std::vector<Cut> cuts;  ///< in the order of the packets
  PacketSums all;
  std::uint64_t first_ns, last_ns;  ///< times of its packets
};

/// The result for a flow between packets at which both taps cut.
struct CutFlow {
  std::uint64_t packets_up = 0, packets_down = 0;  ///< between the first and the last of these packets
  std::uint64_t lost = 0, more = 0;                ///< of these: seen at UP alone, seen at DOWN alone; at least so many
  struct Sample {
    Passage passage;
    std::uint64_t weight;  ///< packets for which it stands
  };
  /// The mean of packets that arrived, told in up to two ways.
  struct Mean {
    std::uint64_t weight;            ///< number of packets
    bool is_exact;                   ///< `of_sums` is the mean of exactly these packets
    std::optional<Passage> of_sums;  ///< from the sums of times
    double most_off_ns = 0;          ///< how far off that may be, as those that did not arrive may be any
    std::optional<Passage> of_cuts;  ///< of those packets that are cuts
    double cuts = 0;                 ///< how many packets, picked evenly at random, are worth as much
  };
  std::vector<Mean> means;
  std::vector<Sample> samples;  ///< the cuts
  bool is_unlike = false;       ///< both taps saw as many packets, but no name is known to be the same
};

enum class FlowEnds : std::uint8_t { none, beginning, end, both };  ///< that both taps watched

/// Compares a flow between the packets at which both taps cut, and its ends as far as both watched them.
///
/// Between two cuts, or over a stretch of several, the same packets were seen if numbers and names agree, whatever
/// overtook a cut. If not, the difference of the numbers is what one of them did not see. A repeat that one tap alone
/// saw is a packet more there. As far as the numbers do not show it, another packet was lost. If neither shows
/// anything, each tap alone saw one packet at least. Returns nullopt if nothing is common.
std::optional<CutFlow> compare_cuts(const TapSums& up, const TapSums& down, FlowEnds watched);

}  // namespace parshall
