// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>

#include "lab/dpdk/rte_member_sketch.hpp"
#include "lab/tables/candidate.hpp"
#include "lab/tables/tasks.hpp"
#include "traffic/keys.hpp"

namespace parshall::lab {

/// DPDK's rte_member as a sketch that gets every flow's packets. Its own heap replaces the value of a heavy hitter.
template <class Key, RteMemberSize (*size_for)(std::size_t flows) noexcept>
class RteMemberCandidate final : public Candidate {
 public:
  RteMemberCandidate(std::size_t entries, std::uint64_t seed, TaskTally)
      : sketch_(size_for(entries), sizeof(Key), seed) {}

  void run(std::span<const std::uint32_t> flows) noexcept override {
    constexpr std::size_t kBulk = 64;
    std::array<Key, kBulk> keys;
    std::array<const void*, kBulk> pointers;
    for (std::size_t at = 0; at < flows.size(); at += kBulk) {
      const std::size_t count = std::min(kBulk, flows.size() - at);
      for (std::size_t i = 0; i < count; ++i) {
        keys[i] = key_of<sizeof(Key)>(flows[at + i]);
        pointers[i] = &keys[i];
      }
      sketch_.add(std::span(pointers).first(count));
    }
  }

  void counts(std::span<std::uint64_t> by_flow) const noexcept override {
    for (std::uint32_t flow = 0; flow < by_flow.size(); ++flow) {
      const Key key = key_of<sizeof(Key)>(flow);
      by_flow[flow] = sketch_.estimate(&key);
    }
  }

  static std::size_t memory_bytes(std::size_t entries) noexcept {
    return RteMemberSketch::memory_bytes(size_for(entries), sizeof(Key));
  }
  std::size_t places() const noexcept override { return 0; }
  std::size_t size() const noexcept override { return 0; }

 private:
  RteMemberSketch sketch_;
};

}  // namespace parshall::lab
