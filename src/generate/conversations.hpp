// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/random.hpp"
#include "generate/flow_frames.hpp"
#include "generate/traffic_spec.hpp"

namespace parshall {

/// Makes packets of one-way flows those of connections that go on: as often as each is called. Flows 2i and 2i + 1 are
/// the two directions of one.
///
/// A round of packets is played over and over, so numbers go round once in it: by a gap at each third, none of which
/// goes so far that it looks like a step back, if both ends sent something since the one before. Other connections have
/// no data, and no numbers to go on.
class Conversations {
 public:
  /// `flow_of`: of all packets of the round; `others`: which of them are of no connection; none: all are.
  Conversations(const TrafficSpec& spec, std::span<const std::uint32_t> flow_of, const std::vector<bool>& others);

  /// The round's `at`-th packet, of flow `number`, in a frame that has room for so much data.
  Segment segment(std::uint64_t at, std::uint64_t number, std::uint32_t room) noexcept;

 private:
  static constexpr unsigned kAllThirds = 7;

  struct Flow {
    unsigned thirds = 0;     ///< of the round: bit i: it has packets in that one
    std::uint32_t sent = 1;  ///< its next sequence number, but for gaps
    float resends = 0;       ///< share of its packets that send again what the last one did
  };

  std::uint32_t third(std::uint64_t at) const noexcept { return static_cast<std::uint32_t>(3 * at / packets_); }
  double draw_resends(double share) noexcept;

  std::uint64_t packets_;
  SplitMix64 random_;
  std::vector<Flow> flows_;
};

}  // namespace parshall
