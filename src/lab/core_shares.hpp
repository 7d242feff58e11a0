// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "lab/traffic.hpp"

namespace parshall::lab {

/// Which flows cores see: all of them see all flows, or each flow is one core's, as receive side scaling does it.
enum class Sharing : std::uint8_t { same, split };
inline constexpr std::string_view kSharingNames[] = {"same", "split"};

/// What one core is sent, over and over.
struct CoreShare {
  std::vector<std::uint32_t> own;          ///< of split traffic
  std::span<const std::uint32_t> packets;  ///< played from `begin` on; empty where no flow came to this core
  std::size_t begin = 0;
  std::vector<std::uint32_t> flows;  ///< each once, in an order that has nothing to do with how popular they are
};

/// One for each core; they look into the traffic.
std::vector<CoreShare> share_out(const Traffic& traffic, std::size_t cores, Sharing sharing, std::uint64_t seed);

/// Counts the first `count` packets that a core is sent.
void count_packets(const CoreShare& share, std::size_t count, std::span<std::uint64_t> by_flow);

}  // namespace parshall::lab
