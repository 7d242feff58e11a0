// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/random.hpp"
#include "traffic/flow_frames.hpp"
#include "traffic/traffic_spec.hpp"

namespace parshall {

/// Turns one-way flows into lasting connections, packet by packet. Flows 2i and 2i + 1 are the two directions of one.
/// Each segment follows the one before it, and acknowledges everything that the other end has sent.
///
/// A round of packets is repeated. Numbers of later rounds are those of the first plus an advance per round
/// (ConversationRounds). A connection in which one end never sends has no data, and its numbers do not advance.
class Conversations {
 public:
  /// `flow_of` has the flows of the round's packets. `others` marks packets of no connection; empty if there are none.
  Conversations(const TrafficSpec& spec, std::span<const std::uint32_t> flow_of, const std::vector<bool>& others);

  /// Returns the round's next packet, of flow `number`, in a frame with room for `room` bytes of data.
  Segment segment(std::uint64_t number, std::uint32_t room) noexcept;

  /// Returns how far each flow's sequence numbers advance in a round, flows in pairs. Throws std::bad_alloc.
  std::vector<std::uint32_t> advances() const;

 private:
  struct Flow {
    bool sends = false;      ///< true if it sends in a round
    std::uint32_t sent = 0;  ///< bytes
    float resends = 0;       ///< fraction of its packets that repeat the previous data
  };

  std::uint32_t first_sequence(std::uint64_t number) const noexcept;
  double draw_resends(double share) noexcept;

  std::uint64_t seed_;
  SplitMix64 random_;
  std::vector<Flow> flows_;
};

}  // namespace parshall
