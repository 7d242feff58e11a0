// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/huge_buffer.hpp"
#include "pipeline/decode/application/dns_addresses.hpp"
#include "pipeline/decode/application/payload.hpp"
#include "pipeline/decode/application/reader.hpp"
#include "pipeline/measure/address_names.hpp"
#include "pipeline/measure/statistics/application_names.hpp"

namespace parshall {

/// Reads the names of flows from their first payload packets: those of one worker.
///
/// A name that is split over packets waits in a stream until its other bytes come, in any order. If all streams are
/// used, a new one takes the place of the oldest.
///
/// Some packets take long to read: QUIC has to be decrypted, and a stream is read again when it grows. So that nobody
/// can keep a worker busy with that, a source that cannot wait has a fifth of the packet time for it. A flow that finds
/// no time left, or whose stream is taken, has no name and is counted. So is one with an answer of DNS that was not
/// read for `addresses`.
///
/// Memory: memory_bytes(), of which streams that were used are committed.
class NameReader {
  using State = ApplicationNames::State;

 public:
  struct Options {
    NameColumns wanted;
    IpHeader header = IpHeader::outermost;
    bool can_wait = true;
    std::atomic<std::uint64_t>* not_read = nullptr;  ///< counts flows without a name for lack of a stream or of time
    std::shared_ptr<AddressNames> addresses = {};    ///< learns from answers of DNS; null if addresses have no names
  };
  explicit NameReader(const Options& options);

  static std::size_t memory_bytes(bool can_wait) noexcept { return streams_for(can_wait) * sizeof(Stream); }

  /// Returns whether any more packets of the flow have to be read.
  static bool is_open(const std::byte* state) noexcept {
    return (std::to_integer<unsigned>(state[7]) & (State::is_open | State::answers)) != 0;
  }

  /// Reads the next packet of an open flow, the names of which are written to `carries` once they are known.
  void read(std::uint32_t slot, std::byte* state, std::byte* carries, const RawPacket& packet,
            const ApplicationNames& names) noexcept;

  void flow_ended(std::uint32_t slot, const std::byte* state) noexcept;
  void flow_moved(const std::byte* state, std::uint32_t from, std::uint32_t to) noexcept;

 private:
  using Number = std::uint16_t;  ///< of a stream, from 1; 0: none
  struct Stream {
    std::uint32_t slot;
    bool is_used;
    Number older, newer;  ///< among the streams in use; for a free one, `newer` is the next that is free
    QuicFlow bytes;       ///< of a TCP stream, or of a QUIC handshake
  };
  static constexpr Number streams_for(bool can_wait) noexcept { return can_wait ? 16384 : 2048; }

  void name_addresses(State& state, std::byte* carries, const RawPacket& packet,
                      const ApplicationNames& names) noexcept;
  void learn_addresses(const Payload& payload, const RawPacket& packet) noexcept;
  bool has_time(std::uint64_t time_ns) noexcept;
  void take_time(std::uint64_t cost_ns) noexcept;
  std::uint64_t message_ns(std::size_t bytes) const noexcept;
  Reading give_up() noexcept;
  Reading read_segment(std::uint32_t slot, State& state, const Payload& payload, std::uint64_t time_ns) noexcept;
  Reading read_datagram(std::uint32_t slot, State& state, const Payload& payload, std::uint64_t time_ns) noexcept;
  void read_rest(std::uint32_t slot, const State& state, const Payload& payload) noexcept;
  Stream& at(Number number) noexcept { return streams_[number - 1u]; }
  Stream* stream_of(std::uint32_t slot, const State& state) noexcept;
  Stream& begin_stream(std::uint32_t slot, State& state) noexcept;
  void end_stream(std::uint32_t slot, State& state) noexcept;
  void give_back(Number number) noexcept;
  static Reading pass_over(std::size_t bytes, State& state) noexcept;

  Options options_;
  ApplicationReader reader_;
  ApplicationFacts facts_;
  QuicFlow datagram_;
  HugeBuffer<Stream> streams_;
  Number begun_ = 0;  ///< streams that were ever used
  Number free_ = 0, oldest_ = 0, newest_ = 0;
  std::uint64_t latest_ns_ = 0;
  std::int64_t spare_ns_ = 0;  ///< time for what takes long; below 0 until what was taken in advance has passed
  std::array<DnsAddress, kMostDnsAddresses> learnt_;
};

}  // namespace parshall
