// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/huge_buffer.hpp"
#include "base/result.hpp"
#include "pipeline/capture/packet.hpp"
#include "traffic/frame.hpp"

namespace parshall::lab {

/// Headers of a capture's packets in memory, ready before any clock starts, with the data that determines each packet's
/// receive queue.
///
/// Shape:  a packet's first kKeptBytes, in 128 bytes of their own.
class ReplayTrace {
 public:
  static constexpr std::uint32_t kKeptBytes = 96, kStride = 128;

  /// Data of a packet beside its bytes.
  struct Packet {
    std::uint64_t queue_hash;  ///< hash of its flow, as captured; 0 if it has none
    std::uint32_t frame_bytes;
    std::uint8_t captured_bytes;
    std::uint8_t addresses_at;   ///< offset of its IP addresses in its bytes; 0: not found
    std::uint8_t address_bytes;  ///< length of one address
    LinkType link_type;
  };

  /// Loads the first packets of a capture. A damaged file gives the packets before the damage. Error: the file cannot
  /// be read or is empty. Throws std::bad_alloc.
  static Result<ReplayTrace> of_file(const std::string& path, std::size_t most_packets);

  std::size_t size() const noexcept { return packets_.size(); }
  const Packet& packet(std::size_t i) const noexcept { return packets_[i]; }
  const std::uint8_t* bytes(std::size_t i) const noexcept { return bytes_.data() + i * kStride; }

  std::uint64_t flows() const noexcept { return flows_; }  ///< 5-tuples
  std::uint64_t flow_packets() const noexcept { return flow_packets_; }
  /// Returns the packets of flows whose addresses are behind another header than Ethernet's: they are the same at each
  /// repetition.
  std::uint64_t fixed_packets() const noexcept { return fixed_packets_; }
  double mean_frame_bytes() const noexcept;
  const std::string& warning() const noexcept { return warning_; }  ///< warning for the user; may be empty

 private:
  ReplayTrace() = default;
  void add(const RawPacket& packet, std::uint64_t queue_hash);

  HugeBuffer<std::uint8_t> bytes_;
  std::vector<Packet> packets_;
  std::uint64_t flows_ = 0, flow_packets_ = 0, fixed_packets_ = 0, frame_bytes_ = 0;
  std::string warning_;
};

/// Times at which packets of a trace come to one receive queue of an interface, if frames follow each other without a
/// pause.
class ReplaySchedule {
 public:
  /// Frames longer than `cap` bytes take as much of the line as one of `cap`; 0: no cap.
  ReplaySchedule(const ReplayTrace& trace, std::uint32_t cap, std::size_t queue, std::size_t queues);

  std::size_t packets() const noexcept { return numbers_.size(); }            ///< packets that come to this queue
  std::uint64_t loop_bytes() const noexcept { return loop_bytes_; }           ///< on the line, of all queues
  std::uint32_t number(std::size_t i) const noexcept { return numbers_[i]; }  ///< packet number in the trace
  std::uint64_t end_bytes(std::size_t i) const noexcept { return ends_[i]; }  ///< passed before it arrives

  /// Returns how many packets have arrived after this many bytes; at least `least` are known to have.
  std::uint64_t packets_by(std::uint64_t bytes, std::uint64_t least) const noexcept;

 private:
  std::vector<std::uint32_t> numbers_;
  std::vector<std::uint64_t> ends_;
  std::uint64_t loop_bytes_ = 0;
};

}  // namespace parshall::lab
