// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "pipeline/capture/packet.hpp"
#include "traffic/traffic.hpp"

namespace parshall {

/// Continues connections when their trace repeats. In later rounds frames are copied as they are played, and the copies
/// get the sequence and acknowledgment numbers of their round.
///
/// Shape: a ring of frames, each on cache lines of its own. They stay valid as long as a source's packets.
/// Cost:  a copy of each frame, and its flow's line of the advances.
class ConversationRounds {
 public:
  explicit ConversationRounds(std::shared_ptr<const Trace> trace);

  /// Updates packets before which `number` were played. At most TcpFrames::kMostPackets between two calls of a source's
  /// poll().
  void put_into(std::span<RawPacket> packets, std::uint64_t number) noexcept;
  /// Updates packets that have these numbers.
  void put_into(std::span<RawPacket> packets, std::span<const std::uint64_t> numbers) noexcept;

 private:
  struct alignas(64) Line {
    std::uint8_t bytes[64];
  };

  struct Advance {
    std::uint32_t sequence, acknowledgment;
  };

  void move_on(RawPacket& packet, std::uint32_t round, std::uint64_t at) noexcept;
  void move_on(RawPacket& packet, Advance by) noexcept;

  std::shared_ptr<const Trace> trace_;
  std::size_t lines_ = 0;   ///< cache lines per frame
  std::vector<Line> ring_;  ///< empty if no connection continues
  std::size_t at_ = 0;
};

}  // namespace parshall
