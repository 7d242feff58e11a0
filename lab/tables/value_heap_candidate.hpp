// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "lab/tables/candidate.hpp"
#include "lab/tables/rolling.hpp"
#include "lab/tables/tasks.hpp"
#include "lab/tables/value_heap.hpp"
#include "traffic/keys.hpp"

namespace parshall::lab {

/// A heap of as many keys as there are entries, with a task value for each. A flow that is not listed is reported by no
/// task, and its count is its upper bound.
template <class Key, TaskValue Value>
class ValueHeapCandidate final : public Candidate {
 public:
  ValueHeapCandidate(std::size_t entries, std::uint64_t seed, TaskTally tally)
      : hasher_{KeyedHash(seed)}, heap_(entries), tally_(tally) {}

  void run(std::span<const std::uint32_t> flows) noexcept override {
    const LabHasher hasher = hasher_;
    const std::uint64_t sequence = sequence_;
    rolling_.run(
        flows.size(),
        [&](std::size_t i, Asked& asked) {
          const Key key = key_of<sizeof(Key)>(flows[i]);
          asked = {key, hasher(key), Value::element(flows[i], sequence + i)};
          heap_.prefetch(asked.hash);
        },
        HalfWay{&heap_}, Update{this});
    sequence_ += flows.size();
  }
  void drain() noexcept override { rolling_.drain(HalfWay{&heap_}, Update{this}); }

  void counts(std::span<std::uint64_t> by_flow) const noexcept override {
    for (std::uint32_t flow = 0; flow < by_flow.size(); ++flow) {
      const Key key = key_of<sizeof(Key)>(flow);
      by_flow[flow] = heap_.packets(hasher_(key), key);
    }
  }
  void reports(std::span<std::uint8_t> by_flow) const noexcept override {
    for (std::uint32_t flow = 0; flow < by_flow.size(); ++flow) {
      const Key key = key_of<sizeof(Key)>(flow);
      const Value* value = heap_.value(hasher_(key), key);
      by_flow[flow] = value != nullptr && value->reported();
    }
  }

  static std::size_t memory_bytes(std::size_t entries) noexcept { return Heap::memory_bytes(entries); }
  std::size_t places() const noexcept override { return heap_.places(); }
  std::size_t size() const noexcept override { return heap_.size(); }

 private:
  using Heap = ValueHeap<Key, Value>;

  struct Asked {
    Key key;
    std::uint64_t hash;
    std::uint64_t element;
  };
  struct HalfWay {
    const Heap* heap;
    [[gnu::always_inline]] void operator()(const Asked& asked) const noexcept {
      heap->prefetch_entry(asked.hash, asked.key);
    }
  };
  struct Update {
    ValueHeapCandidate* self;
    [[gnu::always_inline]] void operator()(std::span<const Asked> group) const noexcept {
      for (const Asked& asked : group) self->heap_.add(asked.hash, asked.key).packet(asked.element, self->tally_);
    }
  };

  LabHasher hasher_;
  Heap heap_;
  Rolling<Asked> rolling_;
  TaskTally tally_;
  std::uint64_t sequence_ = 0;
};

}  // namespace parshall::lab
