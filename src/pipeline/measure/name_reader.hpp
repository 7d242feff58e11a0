// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/huge_buffer.hpp"
#include "pipeline/decode/application/payload.hpp"
#include "pipeline/decode/application/reader.hpp"
#include "pipeline/measure/statistics/application_names.hpp"

namespace parshall {

/// Reads the names of flows from their first payload packets: those of one worker.
///
/// A name that is split over packets waits in a stream until its other bytes come, in any order. There are kStreams of
/// them; a new one takes the place of the oldest, whose flow then has no name and is counted.
///
/// To decrypt a QUIC packet takes some us, and to read a stream again takes long if it is long. So that nobody can keep
/// a worker busy with that, a source that cannot wait has kPerSecond of these a second, by packet time. A flow that
/// finds none left has no name, and is counted as well.
///
/// Memory: kBytes, of which streams that were used are committed.
class NameReader {
 public:
  static constexpr std::uint64_t kPerSecond = 50'000, kAtOnce = 5'000;
  static constexpr std::size_t kStreams = 2048, kBytes = kStreams * (sizeof(QuicFlow) + 8);

  NameReader(NameColumns wanted, IpHeader header, bool can_wait);

  /// Returns whether any more packets of the flow have to be read.
  static bool is_open(const std::byte* state) noexcept {
    return (std::to_integer<std::uint8_t>(state[7]) & ApplicationNames::State::is_open) != 0;
  }

  /// Reads the next packet of an open flow, the names of which are written to `carries` once they are complete.
  void read(std::uint32_t slot, std::byte* state, std::byte* carries, const RawPacket& packet,
            const ApplicationNames& names) noexcept;

  void flow_ended(std::uint32_t slot, const std::byte* state) noexcept;
  void flow_moved(const std::byte* state, std::uint32_t from, std::uint32_t to) noexcept;

  /// Returns the flows that have no names for lack of a stream or of time. Any thread.
  std::uint64_t not_read() const noexcept { return not_read_.load(std::memory_order_relaxed); }

 private:
  using State = ApplicationNames::State;
  struct Stream {
    std::uint32_t slot;
    std::uint32_t is_used;
    QuicFlow bytes;  ///< of a TCP stream, or of a QUIC handshake
  };

  bool may_take_long(std::uint64_t time_ns) noexcept;
  Reading give_up() noexcept;
  Reading read_segment(std::uint32_t slot, State& state, const Payload& payload, std::uint64_t time_ns) noexcept;
  Reading read_datagram(std::uint32_t slot, State& state, const Payload& payload, std::uint64_t time_ns) noexcept;
  Stream* stream_of(std::uint32_t slot, const State& state) noexcept;
  Stream& begin_stream(std::uint32_t slot, State& state) noexcept;
  void end_stream(std::uint32_t slot, State& state) noexcept;
  static Reading pass_over(std::size_t bytes, State& state) noexcept;

  ApplicationReader reader_;
  IpHeader header_;
  ApplicationFacts facts_;
  QuicFlow datagram_;
  HugeBuffer<Stream> streams_;
  std::size_t next_ = 0;  ///< stream that is taken next, the oldest
  bool can_wait_;
  std::uint64_t latest_ns_ = 0, spare_ns_ = 0;  ///< packet time that was not spent yet
  std::atomic<std::uint64_t> not_read_{0};
};

}  // namespace parshall
