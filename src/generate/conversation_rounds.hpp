// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "generate/traffic.hpp"
#include "pipeline/capture/packet.hpp"

namespace parshall {

/// Lets connections, or those who open them, go on when their trace repeats: in later rounds its frames are copied as
/// they are played, and the copies have the sequence and acknowledgment numbers of their round.
///
/// Shape: a ring of frames, each on cache lines of its own: they stay valid as the packets of a source do.
/// Cost:  a copy of each frame, and its flow's line of the advances.
class ConversationRounds {
 public:
  explicit ConversationRounds(std::shared_ptr<const Trace> trace);

  /// `number` packets were played before. At most TcpFrames::kMostPackets between two calls of a source's poll().
  void put_into(std::span<RawPacket> packets, std::uint64_t number) noexcept;
  /// The same of packets that have these numbers.
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
  std::size_t lines_ = 0;   ///< of a frame
  std::vector<Line> ring_;  ///< none: nothing goes on
  std::size_t at_ = 0;
};

}  // namespace parshall
