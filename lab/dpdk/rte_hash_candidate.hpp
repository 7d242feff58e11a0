// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>

#include "base/huge_buffer.hpp"
#include "base/prefetch.hpp"
#include "lab/dpdk/rte_hash_index.hpp"
#include "lab/tables/candidate.hpp"
#include "lab/tables/tasks.hpp"
#include "traffic/keys.hpp"

namespace parshall::lab {

/// DPDK's rte_hash as used in practice: bulk lookup, with the flows' values in a separate array.
template <class Key, TaskValue Value>
class RteHashCandidate final : public Candidate {
 public:
  RteHashCandidate(std::size_t entries, std::uint64_t seed, TaskTally tally)
      : index_(room_for(entries), sizeof(Key), seed), values_(index_.numbers()), tally_(tally) {}

  void run(std::span<const std::uint32_t> flows) noexcept override {
    for (std::size_t at = 0; at < flows.size(); at += kBulk)
      run_bulk(flows.subspan(at, std::min(kBulk, flows.size() - at)));
  }

  void counts(std::span<std::uint64_t> by_flow) const noexcept override {
    for (std::uint32_t flow = 0; flow < by_flow.size(); ++flow) {
      const Value* value = find(flow);
      by_flow[flow] = value == nullptr ? 0 : value->packets;
    }
  }
  void reports(std::span<std::uint8_t> by_flow) const noexcept override {
    for (std::uint32_t flow = 0; flow < by_flow.size(); ++flow) {
      const Value* value = find(flow);
      by_flow[flow] = value != nullptr && value->reported();
    }
  }

  static std::size_t memory_bytes(std::size_t entries) noexcept {
    return RteHashIndex::memory_bytes(room_for(entries), sizeof(Key)) + (room_for(entries) + 1) * sizeof(Value);
  }
  std::size_t places() const noexcept override { return index_.numbers(); }
  std::size_t size() const noexcept override { return index_.size(); }
  std::uint64_t rejected() const noexcept override { return rejected_; }

 private:
  static constexpr std::size_t kBulk = RteHashIndex::kBulk;

  /// Returns the capacity to request. Its buckets of eight entries are a power of two, so 38 to 75 % of the entries are
  /// used.
  static std::size_t room_for(std::size_t entries) noexcept { return std::max(std::size_t{8}, entries + entries / 3); }

  void run_bulk(std::span<const std::uint32_t> flows) noexcept {
    std::array<Key, kBulk> keys;
    std::array<const void*, kBulk> pointers;
    std::array<std::int32_t, kBulk> numbers;
    for (std::size_t i = 0; i < flows.size(); ++i) {
      keys[i] = key_of<sizeof(Key)>(flows[i]);
      pointers[i] = &keys[i];
    }
    index_.find(std::span(pointers).first(flows.size()), numbers);
    for (std::size_t i = 0; i < flows.size(); ++i)
      if (numbers[i] >= 0) prefetch_object<sizeof(Value)>(&values_[static_cast<std::size_t>(numbers[i])]);
    for (std::size_t i = 0; i < flows.size(); ++i) {
      const std::int32_t number = numbers[i] >= 0 ? numbers[i] : index_.insert(pointers[i]);
      const std::uint64_t element = Value::element(flows[i], sequence_++);
      if (number >= 0)
        values_[static_cast<std::size_t>(number)].packet(element, tally_);
      else
        ++rejected_;
    }
  }

  const Value* find(std::uint32_t flow) const noexcept {
    const Key key = key_of<sizeof(Key)>(flow);
    const void* pointer = &key;
    std::int32_t number = -1;
    index_.find({&pointer, 1}, {&number, 1});
    return number < 0 ? nullptr : &values_[static_cast<std::size_t>(number)];
  }

  RteHashIndex index_;
  HugeBuffer<Value> values_;
  TaskTally tally_;
  std::uint64_t sequence_ = 0;
  std::uint64_t rejected_ = 0;
};

}  // namespace parshall::lab
