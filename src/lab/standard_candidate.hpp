// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <unordered_map>

#include "lab/candidate.hpp"
#include "lab/keys.hpp"

namespace parshall::lab {

/// std::unordered_map, as its users have it: grown to the flows at once, one packet after the other. The reference.
template <class Value>
class StandardCandidate final : public Candidate {
 public:
  StandardCandidate(std::size_t entries, std::uint64_t seed) : map_(entries, LabHasher{KeyedHash(seed)}) {}

  void run(std::span<const std::uint32_t> flows) override {
    for (const std::uint32_t flow : flows) ++map_[key_of(flow)].packets;
  }

  void counts(std::span<std::uint64_t> by_flow) const noexcept override {
    for (std::uint32_t flow = 0; flow < by_flow.size(); ++flow) {
      const auto found = map_.find(key_of(flow));
      by_flow[flow] = found == map_.end() ? 0 : found->second.packets;
    }
  }

  /// A pointer for each bucket, a node for each flow, and the allocator's 8 bytes with it.
  static std::size_t memory_bytes(std::size_t entries) noexcept {
    return entries * (2 * sizeof(void*) + sizeof(std::pair<const LabKey, Value>) + 8);
  }
  std::size_t places() const noexcept override { return 0; }
  std::size_t size() const noexcept override { return map_.size(); }

 private:
  std::unordered_map<LabKey, Value, LabHasher> map_;
};

}  // namespace parshall::lab
