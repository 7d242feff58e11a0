// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/prefetch.hpp"
#include "lab/classify/replay_trace.hpp"
#include "pipeline/capture/source.hpp"
#include "traffic/arrival_queue.hpp"
#include "traffic/paced_source.hpp"

namespace parshall::lab {

/// One receive queue of an interface to which a trace is sent repeatedly at line rate. Packets that come while the
/// queue is full are missed, and counted.
///
/// Both addresses of a packet are XORed with a number that depends on the repetition and the interface. So no flow
/// repeats, and both directions of a connection still belong together. In IPv6 addresses the first four bytes change.
/// Checksums are not updated.
/// Error:  as in PacedSource, but time stamps are those of the line. Two flows with equal ports become one if both of
///         their addresses differ by the difference of two such numbers, which are spread over 32 bits.
class ReplaySource final : public PacketSource {
 public:
  static constexpr std::uint64_t kMostInterfaces = 2;
  using Clock = PacedSource::Clock;

  /// `gbps`: rate of the whole line, for all queues' packets with overhead. Time stamps start at `first_ns`.
  ReplaySource(std::shared_ptr<const ReplayTrace> trace, std::shared_ptr<const ReplaySchedule> schedule,
               std::uint64_t interface, double gbps, std::size_t queue, std::uint64_t first_ns,
               Clock clock = &PacedSource::steady_ns);

  std::size_t poll(std::span<RawPacket> out) noexcept override;
  bool lossless() const noexcept override { return false; }
  std::uint64_t now_ns() noexcept override { return first_ns_ + polled_ns_; }
  Counters counters() noexcept override { return counts_.counters(); }

  /// Returns the number that the addresses of a repetition are changed by.
  static std::uint32_t mask_of(std::uint64_t loop, std::uint64_t interface) noexcept {
    constexpr std::uint32_t kOdd = 0x9E3779B1;  // makes 2^32 numbers distinct, and spreads neighbours
    return static_cast<std::uint32_t>(loop * kMostInterfaces + interface) * kOdd;
  }

 private:
  static constexpr std::size_t kFrames = 4 * 4096, kAhead = 8;

  struct alignas(64) Frame {
    std::uint8_t bytes[ReplayTrace::kStride];
  };

  std::uint64_t bytes_by(std::uint64_t elapsed_ns) const noexcept;
  void play(const ArrivalQueue::Run& run, std::span<RawPacket> out) noexcept;
  const std::uint8_t* write(std::size_t number, std::uint32_t mask) noexcept;

  std::shared_ptr<const ReplayTrace> trace_;
  std::shared_ptr<const ReplaySchedule> schedule_;
  std::uint64_t interface_;
  double bytes_per_ns_;
  std::uint64_t first_ns_;
  Clock clock_;
  std::optional<std::uint64_t> began_ns_;
  std::uint64_t polled_ns_ = 0;  ///< since the first poll
  ArrivalQueue queue_;
  std::vector<Frame> frames_;  ///< a ring: a device writes its own memory, and several sources read the trace
  std::size_t next_ = 0;
  PacedCounts counts_;
};

}  // namespace parshall::lab
