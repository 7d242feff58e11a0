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
/// the two directions of one. Each segment follows the one before it, and acknowledges all that the other end has sent.
///
/// A round of packets is played over and over: numbers of later rounds are those of the first and what rounds advance
/// them by (ConversationRounds). Connections of which one end never sends have no data, and no numbers to go on.
class Conversations {
 public:
  /// `flow_of`: of all packets of the round; `others`: which of them are of no connection; none: all are.
  Conversations(const TrafficSpec& spec, std::span<const std::uint32_t> flow_of, const std::vector<bool>& others);

  /// The round's next packet, of flow `number`, in a frame that has room for so much data.
  Segment segment(std::uint64_t number, std::uint32_t room) noexcept;

  /// By how much each flow's sequence numbers have gone on; flows in pairs. Throws std::bad_alloc.
  std::vector<std::uint32_t> advances() const;

 private:
  struct Flow {
    bool sends = false;      ///< anything in a round
    std::uint32_t sent = 0;  ///< bytes
    float resends = 0;       ///< share of its packets that send again what the last one did
  };

  std::uint32_t first_sequence(std::uint64_t number) const noexcept;
  double draw_resends(double share) noexcept;

  std::uint64_t seed_;
  SplitMix64 random_;
  std::vector<Flow> flows_;
};

}  // namespace parshall
