// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "lab/tables/traffic.hpp"

namespace parshall::lab {

/// Distribution of flows over cores: each core sees all flows, or each flow belongs to one core, as with receive side
/// scaling.
enum class Sharing : std::uint8_t { same, split };
inline constexpr std::string_view kSharingNames[] = {"same", "split"};

/// Packets sent to one core, repeatedly.
struct CoreUse {
  std::vector<std::uint32_t> own;          ///< for split traffic
  std::span<const std::uint32_t> packets;  ///< played from `begin` on; empty if this core has no flow
  std::size_t begin = 0;
  std::vector<std::uint32_t> flows;  ///< each once, in an order independent of popularity
};

/// Makes one share for each core; the shares refer to the traffic.
std::vector<CoreUse> share_out(const Traffic& traffic, std::size_t cores, Sharing sharing, std::uint64_t seed);

/// Counts the first `count` packets sent to a core.
void count_packets(const CoreUse& share, std::size_t count, std::span<std::uint64_t> by_flow);

}  // namespace parshall::lab
