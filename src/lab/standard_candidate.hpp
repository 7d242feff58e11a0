// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <unordered_map>

#include "lab/candidate.hpp"
#include "lab/keys.hpp"
#include "lab/tasks.hpp"

namespace parshall::lab {

/// std::unordered_map, as its users have it: grown to the flows at once, one packet after the other. The reference.
template <class Key, TaskValue Value>
class StandardCandidate final : public Candidate {
 public:
  StandardCandidate(std::size_t entries, std::uint64_t seed, TaskTally tally)
      : map_(entries, LabHasher{KeyedHash(seed)}), tally_(tally) {}

  void run(std::span<const std::uint32_t> flows) override {
    for (const std::uint32_t flow : flows)
      map_[key_of<sizeof(Key)>(flow)].packet(Value::element(flow, sequence_++), tally_);
  }

  void counts(std::span<std::uint64_t> by_flow) const override {
    for (std::uint32_t flow = 0; flow < by_flow.size(); ++flow) {
      const auto found = map_.find(key_of<sizeof(Key)>(flow));
      by_flow[flow] = found == map_.end() ? 0 : found->second.packets;
    }
  }
  void reports(std::span<std::uint8_t> by_flow) const override {
    for (std::uint32_t flow = 0; flow < by_flow.size(); ++flow) {
      const auto found = map_.find(key_of<sizeof(Key)>(flow));
      by_flow[flow] = found != map_.end() && found->second.reported();
    }
  }

  /// A pointer for each bucket, a node for each flow, and the allocator's 8 bytes with it.
  static std::size_t memory_bytes(std::size_t entries) noexcept {
    return entries * (2 * sizeof(void*) + sizeof(std::pair<const Key, Value>) + 8);
  }
  std::size_t places() const noexcept override { return 0; }
  std::size_t size() const noexcept override { return map_.size(); }

 private:
  std::unordered_map<Key, Value, LabHasher> map_;
  TaskTally tally_;
  std::uint64_t sequence_ = 0;
};

}  // namespace parshall::lab
