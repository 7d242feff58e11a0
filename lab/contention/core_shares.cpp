// SPDX-License-Identifier: Apache-2.0
#include "lab/contention/core_shares.hpp"

#include <algorithm>
#include <numeric>

#include "base/random.hpp"

namespace parshall::lab {
namespace {

/// Returns the core of a flow, independent of the hash that a table uses.
std::size_t owner(std::uint32_t flow, std::size_t cores, std::uint64_t seed) noexcept {
  return SplitMix64(seed ^ SplitMix64::mix(flow + 1)).below(cores);
}

}  // namespace

std::vector<CoreUse> share_out(const Traffic& traffic, std::size_t cores, Sharing sharing, std::uint64_t seed) {
  std::vector<std::uint32_t> every(traffic.flows);
  std::iota(every.begin(), every.end(), 0u);
  std::shuffle(every.begin(), every.end(), SplitMix64(~seed));
  std::vector<CoreUse> shares(cores);
  for (std::size_t core = 0; core < cores; ++core) {
    CoreUse& share = shares[core];
    if (sharing == Sharing::same) {
      share.packets = traffic.packets;
      share.begin = traffic.packets.size() / cores * core;
      share.flows = every;
    } else {
      const auto mine = [&](std::uint32_t flow) { return owner(flow, cores, seed) == core; };
      std::ranges::copy_if(traffic.packets, std::back_inserter(share.own), mine);
      std::ranges::copy_if(every, std::back_inserter(share.flows), mine);
      share.packets = share.own;
    }
  }
  return shares;
}

void count_packets(const CoreUse& share, std::size_t count, std::span<std::uint64_t> by_flow) {
  for (std::size_t i = 0; i < count; ++i) ++by_flow[share.packets[(share.begin + i) % share.packets.size()]];
}

}  // namespace parshall::lab
