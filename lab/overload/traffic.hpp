// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace parshall::lab {

/// Tasks of the published experiment, as bits of a set: heavy hitters, retransmissions, bursts and changes of latency.
enum class OverloadTask : std::uint8_t { heavy_hitters, retransmissions, bursty, latency_change };
inline constexpr std::size_t kOverloadTasks = 4;
using TaskBits = std::uint8_t;
constexpr TaskBits bit_of(OverloadTask task) noexcept {
  return static_cast<TaskBits>(1u << static_cast<unsigned>(task));
}
inline constexpr TaskBits kAllTasks = 0b1111;
inline constexpr TaskBits kOfConnections = bit_of(OverloadTask::retransmissions) | bit_of(OverloadTask::latency_change);

/// Which flows have which tasks.
enum class OverloadGraph : std::uint8_t { chain, tree };

/// Packets of both ends of TCP connections. Flows 2i and 2i + 1 are the ends of a connection. Flows are drawn by Zipf's
/// law with exponent 1.1. Each retransmits a share of its segments, drawn exponentially with mean 0.005.
///
/// Shape:  an even number of flows; 8 Mi packets, which repeat; 34 MB, and 3 bytes a flow.
class OverloadTraffic {
 public:
  static constexpr std::size_t kHashes = 1024;
  static constexpr std::size_t kMostStates = 5;

  OverloadTraffic(OverloadGraph graph, std::uint32_t flows, std::uint64_t seed);

  struct Packet {
    std::uint64_t ns = 0;
    std::uint32_t flow = 0;
    std::uint32_t segments = 0, peer_segments = 0;  ///< sent so far by this flow, with this one, and by its peer
    bool has_data = false, is_again = false;
  };

  /// Draws packets in the order of their arrival.
  class Stream {
   public:
    explicit Stream(const OverloadTraffic& traffic) : traffic_(&traffic), segments_(traffic.flows()) {}
    Packet next(std::uint64_t ns) noexcept;
    /// Returns the flow of the packet that comes after this many others.
    std::uint32_t flow_after(std::size_t packets) const noexcept {
      return traffic_->trace_[(at_ + packets) % kTracePackets] & kFlow;
    }

   private:
    const OverloadTraffic* traffic_;
    std::vector<std::uint32_t> segments_;
    std::size_t at_ = 0;
  };

  std::uint32_t flows() const noexcept { return static_cast<std::uint32_t>(state_.size()); }
  std::size_t states() const noexcept { return states_; }
  std::uint8_t state_of(std::uint32_t flow) const noexcept { return state_[flow]; }
  std::uint16_t hash_of(std::uint32_t flow) const noexcept { return hash_[flow]; }
  TaskBits tasks_of_state(std::size_t state) const noexcept { return tasks_of_state_[state]; }

 private:
  static constexpr std::size_t kTracePackets = std::size_t{1} << 23;
  static constexpr std::uint32_t kAgain = 1u << 31, kNoData = 1u << 30, kFlow = kNoData - 1;

  std::size_t states_;
  std::array<TaskBits, kMostStates> tasks_of_state_;
  std::vector<std::uint8_t> state_;
  std::vector<std::uint16_t> hash_;
  std::vector<std::uint32_t> trace_;  ///< flow and flags
};

}  // namespace parshall::lab
