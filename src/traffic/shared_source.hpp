// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "pipeline/capture/source.hpp"
#include "traffic/conversation_rounds.hpp"
#include "traffic/syn_flood.hpp"
#include "traffic/traffic.hpp"

namespace parshall {

/// One worker's partition of a trace that is played from memory repeatedly, as a device would spread its flows. Packets
/// have the times and numbers that they have in the whole.
///
/// Memory: 8 bytes for each of its packets in a round, so that memory is read in order.
class SharedSource final : public PacketSource, private InputPart {
 public:
  /// Plays the trace's `share`-th partition. The whole ends with the `limit`-th packet, and begins at `first_ns`.
  SharedSource(std::shared_ptr<const Trace> trace, std::size_t share, std::uint64_t limit, std::uint64_t first_ns);

  std::size_t poll(std::span<RawPacket> out) noexcept override;
  bool exhausted() const noexcept override { return next_number() >= end_; }
  InputPart* share() noexcept override { return this; }

 private:
  struct Packet {
    std::uint32_t at;  ///< position in a round
    std::uint32_t frame_bytes;
  };

  std::span<const std::uint64_t> numbers() const noexcept override { return {numbers_.data(), polled_}; }
  std::uint64_t reached() const noexcept override { return reached_; }
  Place passed() const noexcept override;
  void end_before(std::uint64_t number) noexcept override;

  static std::vector<Packet> packets_of(const Trace& trace, std::size_t share);
  std::size_t poll_round(std::span<RawPacket> out) noexcept;
  std::uint64_t next_number() const noexcept {
    return packets_.empty() ? ~std::uint64_t{0} : round_begin_ + packets_[next_].at;
  }

  std::shared_ptr<const Trace> trace_;
  SynFlood flood_;
  ConversationRounds rounds_;
  std::vector<Packet> packets_;          ///< its packets in a round
  const std::uint8_t *frames_, *frame_;  ///< its frames, one after the other, and the next one
  std::vector<std::uint64_t> numbers_;
  std::size_t next_ = 0, polled_ = 0;
  std::uint64_t round_begin_ = 0, reached_ = 0, end_, step_, first_ns_;
};

}  // namespace parshall
