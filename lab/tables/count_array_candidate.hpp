// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <type_traits>

#include "base/huge_buffer.hpp"
#include "base/prefetch.hpp"
#include "lab/tables/sketch_candidate.hpp"
#include "pipeline/measure/sketches/count_array.hpp"

namespace parshall::lab {

/// An array of task values with one hash: flows that share a place share a value.
/// Source: the count array of Alipourfard et al., SOSR 2018, for tasks that need more than a count (section 4).
template <class Key, TaskValue Value>
class ValueArrayCandidate final : public Candidate {
 public:
  ValueArrayCandidate(std::size_t entries, std::uint64_t seed, TaskTally tally)
      : hasher_{KeyedHash(seed)},
        values_(places_for(entries)),
        shift_(64 - sketches::row_bits(places_for(entries))),
        tally_(tally) {}

  void run(std::span<const std::uint32_t> flows) noexcept override {
    const LabHasher hasher = hasher_;
    const std::uint64_t sequence = sequence_;
    rolling_.run(
        flows.size(),
        [&](std::size_t i, Asked& asked) {
          asked = {hasher(key_of<sizeof(Key)>(flows[i])) >> shift_, Value::element(flows[i], sequence + i)};
          prefetch_object<sizeof(Value)>(&values_[asked.place]);
        },
        [](const Asked&) {}, Update{this});
    sequence_ += flows.size();
  }
  void drain() noexcept override {
    rolling_.drain([](const Asked&) {}, Update{this});
  }

  void counts(std::span<std::uint64_t> by_flow) const noexcept override {
    for (std::uint32_t flow = 0; flow < by_flow.size(); ++flow) by_flow[flow] = value_of(flow).packets;
  }
  void reports(std::span<std::uint8_t> by_flow) const noexcept override {
    for (std::uint32_t flow = 0; flow < by_flow.size(); ++flow) by_flow[flow] = value_of(flow).reported();
  }

  static std::size_t memory_bytes(std::size_t entries) noexcept { return places_for(entries) * sizeof(Value); }
  std::size_t places() const noexcept override { return 0; }
  std::size_t size() const noexcept override { return 0; }

 private:
  struct Asked {
    std::size_t place;
    std::uint64_t element;
  };
  struct Update {
    ValueArrayCandidate* self;
    [[gnu::always_inline]] void operator()(std::span<const Asked> group) const noexcept {
      for (const Asked& asked : group) self->values_[asked.place].packet(asked.element, self->tally_);
    }
  };

  static std::size_t places_for(std::size_t entries) noexcept { return sketches::row_width(4 * entries); }
  const Value& value_of(std::uint32_t flow) const noexcept {
    return values_[hasher_(key_of<sizeof(Key)>(flow)) >> shift_];
  }

  LabHasher hasher_;
  HugeBuffer<Value> values_;
  unsigned shift_;
  Rolling<Asked> rolling_;
  TaskTally tally_;
  std::uint64_t sequence_ = 0;
};

constexpr SketchSize four_counters_per_flow(std::size_t flows) noexcept { return {4 * flows}; }

/// Uses the sketch if counts are enough.
template <class Key, TaskValue Value>
using CountArrayCandidate =
    std::conditional_t<kCountsAreEnough<Value>,
                       SketchCandidate<CountArray<Key>, CountingValue<Value>, four_counters_per_flow>,
                       ValueArrayCandidate<Key, Value>>;

}  // namespace parshall::lab
