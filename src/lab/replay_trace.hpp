// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/huge_buffer.hpp"
#include "base/result.hpp"
#include "generate/frame.hpp"
#include "pipeline/capture/packet.hpp"

namespace parshall::lab {

/// The headers of a capture's packets in memory, ready before any clock starts, and which receive queue each comes to.
///
/// Shape: a packet's first kKeptBytes, in 128 bytes of their own.
class ReplayTrace {
 public:
  static constexpr std::uint32_t kKeptBytes = 96, kStride = 128;

  /// What is kept of a packet beside its bytes.
  struct Packet {
    std::uint64_t queue_hash;  ///< of its flow, as captured; 0 where it is of none
    std::uint32_t frame_bytes;
    std::uint8_t captured_bytes;
    std::uint8_t addresses_at;   ///< of its IP addresses, among its bytes; 0: not found
    std::uint8_t address_bytes;  ///< of one
    LinkType link_type;
  };

  /// The first packets of a capture, at most so many. Fails where the file cannot be read or has none; of a damaged
  /// one, what came before the damage. Throws std::bad_alloc.
  static Result<ReplayTrace> of_file(const std::string& path, std::size_t most_packets);

  std::size_t size() const noexcept { return packets_.size(); }
  const Packet& packet(std::size_t i) const noexcept { return packets_[i]; }
  const std::uint8_t* bytes(std::size_t i) const noexcept { return bytes_.data() + i * kStride; }

  std::uint64_t flows() const noexcept { return flows_; }  ///< five-tuples
  std::uint64_t flow_packets() const noexcept { return flow_packets_; }
  /// Packets of a flow whose addresses are behind another header than Ethernet's: they are the same at each repetition.
  std::uint64_t fixed_packets() const noexcept { return fixed_packets_; }
  double mean_frame_bytes() const noexcept;
  const std::string& warning() const noexcept { return warning_; }  ///< what its reader should be told; may be empty

 private:
  ReplayTrace() = default;
  void add(const RawPacket& packet, std::uint64_t queue_hash);

  HugeBuffer<std::uint8_t> bytes_;
  std::vector<Packet> packets_;
  std::uint64_t flows_ = 0, flow_packets_ = 0, fixed_packets_ = 0, frame_bytes_ = 0;
  std::string warning_;
};

/// Which packets of a trace come to one receive queue of an interface, and when, where frames follow each other without
/// a pause.
class ReplaySchedule {
 public:
  /// Frames longer than `cap` bytes take as much of the line as one of `cap`; 0: none does.
  ReplaySchedule(const ReplayTrace& trace, std::uint32_t cap, std::size_t queue, std::size_t queues);

  std::size_t packets() const noexcept { return numbers_.size(); }            ///< that come to this queue
  std::uint64_t loop_bytes() const noexcept { return loop_bytes_; }           ///< of the line, by all queues' packets
  std::uint32_t number(std::size_t i) const noexcept { return numbers_[i]; }  ///< in the trace
  std::uint64_t end_bytes(std::size_t i) const noexcept { return ends_[i]; }  ///< that went by when it is there

  /// How many packets are there once so many bytes went by; `least` of them are known to be.
  std::uint64_t packets_by(std::uint64_t bytes, std::uint64_t least) const noexcept;

 private:
  std::vector<std::uint32_t> numbers_;
  std::vector<std::uint64_t> ends_;
  std::uint64_t loop_bytes_ = 0;
};

}  // namespace parshall::lab
