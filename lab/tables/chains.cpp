// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>

#include "lab/rivals/maps/chained.hpp"
#include "lab/tables/map_candidate.hpp"
#include "lab/tables/table_entry.hpp"

namespace parshall::lab {
namespace {

/// Separate chaining at any load factor: buckets depend on the entries requested, entries on the flows that come.
template <class Key, class Value>
class LoadedChains final : public MapCandidate<Chained<Key, Value, LabHasher>> {
 public:
  using Base = MapCandidate<Chained<Key, Value, LabHasher>>;

  LoadedChains(ChainedSize size, std::uint64_t seed, TaskTally tally)
      : Base(size, seed, tally), buckets_(size.buckets()) {}

  /// Returns the number of list heads, so that size() / places() is the load factor.
  std::size_t places() const noexcept override { return buckets_; }

 private:
  std::size_t buckets_;
};

ChainedSize size_of(std::size_t entries, const Shape& shape) noexcept {
  return {.entries = std::max(entries, shape.flows), .least_buckets = entries};
}

std::unique_ptr<Candidate> make_chains(std::size_t entries, const Shape& shape, std::uint64_t seed, TaskTally tally) {
  std::unique_ptr<Candidate> made;
  with_types(shape, [&]<class Key, class Value>() {
    made = std::make_unique<LoadedChains<Key, Value>>(size_of(entries, shape), seed, tally);
  });
  return made;
}

std::size_t memory_of_chains(std::size_t entries, const Shape& shape) {
  std::size_t bytes = 0;
  with_types(shape, [&]<class Key, class Value>() {
    bytes = Chained<Key, Value, LabHasher>::memory_bytes(size_of(entries, shape));
  });
  return bytes;
}

constexpr TableUnderTest kChains[] = {
    {"chained-loaded", "linked lists, with an entry for every flow: --load is that of their heads, and may be above 1",
     true, true, make_chains, memory_of_chains},
};

}  // namespace

std::span<const TableUnderTest> chains_under_test() noexcept { return kChains; }

}  // namespace parshall::lab
