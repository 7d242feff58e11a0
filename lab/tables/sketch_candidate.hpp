// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "lab/tables/candidate.hpp"
#include "lab/tables/rolling.hpp"
#include "lab/tables/tasks.hpp"
#include "pipeline/measure/sketches/sketch.hpp"
#include "traffic/keys.hpp"

namespace parshall::lab {

/// A structure that counts by key and gets every flow's packets. It keeps its own counters; `Value` only determines if
/// the task inspects them. `size_for` returns its size for a number of flows.
template <KeyCounter S, TaskValue Value, SketchSize (*size_for)(std::size_t flows) noexcept>
class SketchCandidate final : public Candidate {
 public:
  SketchCandidate(std::size_t entries, std::uint64_t seed, TaskTally tally)
      : hasher_{KeyedHash(seed)}, sketch_(size_for(entries), ~seed), tally_(tally) {}

  void run(std::span<const std::uint32_t> flows) noexcept override {
    const LabHasher hasher = hasher_;
    rolling_.run(
        flows.size(),
        [&](std::size_t i, Asked& asked) {
          const Key key = key_of<sizeof(Key)>(flows[i]);
          asked = {key, hasher(key)};
          sketch_.prefetch(asked.hash);
        },
        [](const Asked&) {}, Update{this});
  }
  void drain() noexcept override {
    rolling_.drain([](const Asked&) {}, Update{this});
  }

  void counts(std::span<std::uint64_t> by_flow) const noexcept override {
    for (std::uint32_t flow = 0; flow < by_flow.size(); ++flow) {
      const Key key = key_of<sizeof(Key)>(flow);
      by_flow[flow] = sketch_.estimate(hasher_(key), key);
    }
  }

  static std::size_t memory_bytes(std::size_t entries) noexcept { return S::memory_bytes(size_for(entries)); }
  std::size_t places() const noexcept override {
    if constexpr (kHasPlaces) return sketch_.places();
    return 0;
  }
  std::size_t size() const noexcept override {
    if constexpr (kHasPlaces) return sketch_.size();
    return 0;
  }
  std::uint64_t rejected() const noexcept override {
    if constexpr (kHasPlaces) return sketch_.rejected();
    return 0;
  }

 private:
  using Key = typename S::Key;
  static constexpr bool kHasPlaces = requires(const S& view) { view.places(), view.size(), view.rejected(); };

  struct Asked {
    Key key;
    std::uint64_t hash;
  };
  struct Update {
    SketchCandidate* self;
    [[gnu::always_inline]] void operator()(std::span<const Asked> group) const noexcept {
      for (const Asked& asked : group) {
        const std::uint64_t packets = self->sketch_.add(asked.hash, asked.key);
        if constexpr (std::same_as<Value, HeavyHitterValue>) self->tally_.alarms += packets == self->tally_.threshold;
      }
    }
  };

  LabHasher hasher_;
  S sketch_;
  Rolling<Asked> rolling_;
  TaskTally tally_;
};

}  // namespace parshall::lab
