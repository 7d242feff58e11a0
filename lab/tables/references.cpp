// SPDX-License-Identifier: Apache-2.0
#include "lab/tables/standard_candidate.hpp"
#include "lab/tables/table_entry.hpp"

namespace parshall::lab {
namespace {

/// Measures what every other candidate spends before it looks up anything: making keys and hashes.
template <class Key>
class KeysAlone final : public Candidate {
 public:
  KeysAlone(std::size_t, std::uint64_t seed, TaskTally) : hasher_{KeyedHash(seed)} {}
  void run(std::span<const std::uint32_t> flows) noexcept override {
    for (const std::uint32_t flow : flows) sum_ += hasher_(key_of<sizeof(Key)>(flow));
  }
  void counts(std::span<std::uint64_t>) const noexcept override {}
  static std::size_t memory_bytes(std::size_t) noexcept { return 0; }
  std::size_t places() const noexcept override { return 0; }
  std::size_t size() const noexcept override { return 0; }

 private:
  LabHasher hasher_;
  std::uint64_t sum_ = 0;
};

template <class Key, class>
using OfKeysAlone = KeysAlone<Key>;

constexpr TableUnderTest kReferences[] = {
    map_entry<UnorderedMapCandidate>("unordered-map", "std::unordered_map, without prefetching"),
    map_entry<AbslCandidate>("absl-flat", "absl::flat_hash_map, without prefetching"),
    {"nothing", "keys and hashes alone", false, false, make<OfKeysAlone>, memory<OfKeysAlone>},
};

}  // namespace

std::span<const TableUnderTest> references_under_test() noexcept { return kReferences; }

}  // namespace parshall::lab
