// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <absl/container/flat_hash_map.h>

#include <bit>
#include <unordered_map>

#include "lab/tables/candidate.hpp"
#include "lab/tables/tasks.hpp"
#include "traffic/keys.hpp"

namespace parshall::lab {

/// A map with the standard interface, in normal use: sized for the flows at once, one packet after another. The
/// reference.
template <class Key, TaskValue Value, class Map>
class StandardCandidate : public Candidate {
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

  std::size_t places() const noexcept override { return 0; }
  std::size_t size() const noexcept override { return map_.size(); }

 protected:
  Map map_;

 private:
  TaskTally tally_;
  std::uint64_t sequence_ = 0;
};

template <class Key, TaskValue Value>
class UnorderedMapCandidate final : public StandardCandidate<Key, Value, std::unordered_map<Key, Value, LabHasher>> {
 public:
  using UnorderedMapCandidate::StandardCandidate::StandardCandidate;

  /// Estimates memory: a pointer for each bucket, and for each flow a node with the allocator's 8 bytes.
  static std::size_t memory_bytes(std::size_t entries) noexcept {
    return entries * (2 * sizeof(void*) + sizeof(std::pair<const Key, Value>) + 8);
  }
};

template <class Key, TaskValue Value>
class AbslCandidate final : public StandardCandidate<Key, Value, absl::flat_hash_map<Key, Value, LabHasher>> {
 public:
  using AbslCandidate::StandardCandidate::StandardCandidate;

  /// Estimates memory: a control byte and an entry for each place, of which at most 7 of 8 are used.
  static std::size_t memory_bytes(std::size_t entries) noexcept {
    constexpr std::size_t kSpareControlBytes = 16;
    return std::bit_ceil(entries + entries / 7 + 1) * (1 + sizeof(std::pair<const Key, Value>)) + kSpareControlBytes;
  }
  std::size_t places() const noexcept override { return this->map_.capacity(); }
};

}  // namespace parshall::lab
