// SPDX-License-Identifier: Apache-2.0
#include "lab/overload/traffic.hpp"

#include <algorithm>
#include <cmath>

#include "base/random.hpp"

namespace parshall::lab {
namespace {

constexpr double kZipf = 1.1, kAgainShare = 0.005, kMostAgain = 0.5;
constexpr std::array<TaskBits, 5> kChain{0b0000, 0b0001, 0b0011, 0b0111, 0b1111}, kTree{0b0000, 0b0011, 0b0110, 0b1100};

}  // namespace

OverloadTraffic::OverloadTraffic(OverloadGraph graph, std::uint32_t flows, std::uint64_t seed)
    : states_(graph == OverloadGraph::chain ? 5 : 4),
      tasks_of_state_(graph == OverloadGraph::chain ? kChain : kTree),
      state_(flows),
      hash_(flows),
      trace_(kTracePackets) {
  SplitMix64 random(seed);
  const Zipf zipf(kZipf, flows);
  std::vector<double> again(flows);
  for (double& share : again) share = std::min(kMostAgain, -std::log(1 - random.uniform()) * kAgainShare);
  for (std::uint32_t flow = 0; flow + 1 < flows; flow += 2) {
    state_[flow] = state_[flow + 1] = static_cast<std::uint8_t>(random.below(states_));
    hash_[flow] = hash_[flow + 1] = static_cast<std::uint16_t>(random.below(kHashes));
  }
  std::vector<bool> sends(flows);
  for (std::uint32_t& packet : trace_) {
    packet = static_cast<std::uint32_t>(zipf(random));
    sends[packet] = true;
  }
  for (std::uint32_t& packet : trace_) {
    if (!sends[packet ^ 1])
      packet |= kNoData;
    else if (random.uniform() < again[packet])
      packet |= kAgain;
  }
}

OverloadTraffic::Packet OverloadTraffic::Stream::next(std::uint64_t ns) noexcept {
  const std::uint32_t drawn = traffic_->trace_[at_];
  at_ = at_ + 1 == kTracePackets ? 0 : at_ + 1;
  const std::uint32_t flow = drawn & kFlow;
  const bool has_data = (drawn & kNoData) == 0, is_again = (drawn & kAgain) != 0 && segments_[flow] != 0;
  if (has_data && !is_again) ++segments_[flow];
  return {.ns = ns,
          .flow = flow,
          .segments = segments_[flow],
          .peer_segments = segments_[flow ^ 1],
          .has_data = has_data,
          .is_again = is_again};
}

}  // namespace parshall::lab
