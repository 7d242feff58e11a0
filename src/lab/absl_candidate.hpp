// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <absl/container/flat_hash_map.h>

#include <bit>

#include "lab/candidate.hpp"
#include "lab/keys.hpp"
#include "lab/tasks.hpp"

namespace parshall::lab {

/// absl::flat_hash_map, as its users have it: grown to the flows at once, one packet after the other.
template <class Key, TaskValue Value>
class AbslCandidate final : public Candidate {
 public:
  AbslCandidate(std::size_t entries, std::uint64_t seed, TaskTally tally)
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

  /// A control byte and an entry for each place, of which 7 of 8 are used at most.
  static std::size_t memory_bytes(std::size_t entries) noexcept {
    return std::bit_ceil(entries + entries / 7 + 1) * (1 + sizeof(std::pair<const Key, Value>)) + kSpareControlBytes;
  }
  std::size_t places() const noexcept override { return map_.capacity(); }
  std::size_t size() const noexcept override { return map_.size(); }

 private:
  static constexpr std::size_t kSpareControlBytes = 16;

  absl::flat_hash_map<Key, Value, LabHasher> map_;
  TaskTally tally_;
  std::uint64_t sequence_ = 0;
};

}  // namespace parshall::lab
