// SPDX-License-Identifier: Apache-2.0
#include "lab/tables.hpp"

#include "lab/map_candidate.hpp"
#include "lab/standard_candidate.hpp"
#include "lab/table_candidate.hpp"
#include "pipeline/flow/bucketed_table.hpp"
#include "pipeline/flow/maps/chained.hpp"
#include "pipeline/flow/maps/combined.hpp"
#include "pipeline/flow/maps/cuckoo.hpp"
#include "pipeline/flow/maps/double_hash.hpp"
#include "pipeline/flow/maps/linear_index.hpp"
#include "pipeline/flow/maps/linear_probing.hpp"
#include "pipeline/flow/maps/simd_tags.hpp"

namespace parshall::lab {
namespace {

constexpr std::size_t kValueSizes[] = {4, 8, 16, 32, 64, 128, 256};

template <template <class> class Make, std::size_t... I, class Do>
void with_size(std::size_t bytes, std::index_sequence<I...>, Do&& run) {
  ((kValueSizes[I] == bytes ? run(static_cast<Make<LabValue<kValueSizes[I]>>*>(nullptr)) : void()), ...);
}
constexpr std::make_index_sequence<std::size(kValueSizes)> kEverySize;

/// Of whatever size of value is asked for.
template <template <class> class Make>
std::unique_ptr<Candidate> make(std::size_t entries, std::size_t bytes, std::uint64_t seed) {
  std::unique_ptr<Candidate> made;
  with_size<Make>(bytes, kEverySize, [&]<class Made>(Made*) { made = std::make_unique<Made>(entries, seed); });
  return made;
}
template <template <class> class Make>
std::size_t memory(std::size_t entries, std::size_t bytes) {
  std::size_t memory_bytes = 0;
  with_size<Make>(bytes, kEverySize, [&]<class Made>(Made*) { memory_bytes = Made::memory_bytes(entries); });
  return memory_bytes;
}
template <template <class> class Make>
constexpr TableUnderTest map_entry(std::string_view name, std::string_view help) {
  return {name, help, true, true, make<Make>, memory<Make>};
}

template <class Table>
constexpr TableUnderTest table_entry(std::string_view name, std::string_view help, bool whole_keys) {
  return {name,
          help,
          false,
          whole_keys,
          [](std::size_t entries, std::size_t, std::uint64_t seed) -> std::unique_ptr<Candidate> {
            return std::make_unique<TableCandidate<Table>>(entries, seed);
          },
          [](std::size_t entries, std::size_t) { return TableCandidate<Table>::memory_bytes(entries); }};
}

/// What every other one spends before it looks anything up.
class KeysAlone final : public Candidate {
 public:
  explicit KeysAlone(std::uint64_t seed) : hasher_{KeyedHash(seed)} {}
  void run(std::span<const std::uint32_t> flows) noexcept override {
    for (const std::uint32_t flow : flows) sum_ += hasher_(key_of(flow));
  }
  void counts(std::span<std::uint64_t>) const noexcept override {}
  std::size_t places() const noexcept override { return 0; }
  std::size_t size() const noexcept override { return 0; }

 private:
  LabHasher hasher_;
  std::uint64_t sum_ = 0;
};

std::unique_ptr<Candidate> make_nothing(std::size_t, std::size_t, std::uint64_t seed) {
  return std::make_unique<KeysAlone>(seed);
}

template <class V>
using OfLinear = MapCandidate<LinearProbing<LabKey, V, LabHasher>>;
template <class V>
using OfLinearIndex = MapCandidate<LinearIndex<LabKey, V, LabHasher>>;
template <class V>
using OfCuckoo1 = MapCandidate<Cuckoo<LabKey, V, LabHasher, 1>>;
template <class V>
using OfCuckoo4 = MapCandidate<Cuckoo<LabKey, V, LabHasher, 4>>;
template <class V>
using OfDoubleHash = MapCandidate<DoubleHash<LabKey, V, LabHasher>>;
template <class V>
using OfChained = MapCandidate<Chained<LabKey, V, LabHasher>>;
template <class V>
using OfCombined = MapCandidate<Combined<LabKey, V, LabHasher>>;
template <class V>
using OfSimdTags = MapCandidate<SimdTags<LabKey, V, LabHasher>>;

constexpr TableUnderTest kTables[] = {
    table_entry<ExactTable>("bucketed", "the monitor's: two whole keys and their counters in each cache line", true),
    table_entry<FingerprintTable>("bucketed-fingerprint",
                                  "the monitor's: three 32-bit tags and their counters in each cache line", false),
    map_entry<OfLinear>("linear", "linear probing, keys and values inline"),
    map_entry<OfLinearIndex>("linear-index", "linear probing over an index, keys and values beside"),
    map_entry<OfCuckoo1>("cuckoo-1", "two buckets of one entry"),
    map_entry<OfCuckoo4>("cuckoo-4", "two buckets of four entries"),
    map_entry<OfDoubleHash>("double-hash", "FloWatcher's: buckets of two entries, a third is rejected"),
    map_entry<OfChained>("chained", "linked lists"),
    map_entry<OfCombined>("combined", "FloWatcher's: buckets of two entries and a list behind"),
    map_entry<OfSimdTags>("simd-tags", "groups of 14 one-byte tags, entries beside"),
    map_entry<StandardCandidate>("unordered-map", "std::unordered_map, without prefetching"),
    {"nothing", "keys and hashes alone", false, false, make_nothing,
     [](std::size_t, std::size_t) { return std::size_t{0}; }},
};

}  // namespace

std::span<const TableUnderTest> tables_under_test() noexcept { return kTables; }
std::span<const std::size_t> value_sizes() noexcept { return kValueSizes; }

}  // namespace parshall::lab
