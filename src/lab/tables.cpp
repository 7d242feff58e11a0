// SPDX-License-Identifier: Apache-2.0
#include "lab/tables.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "lab/count_array_candidate.hpp"
#include "lab/dpdk/rte_hash_candidate.hpp"
#include "lab/dpdk/rte_member_candidate.hpp"
#include "lab/map_candidate.hpp"
#include "lab/sketch_candidate.hpp"
#include "lab/standard_candidate.hpp"
#include "lab/table_candidate.hpp"
#include "pipeline/flow/bucketed_table.hpp"
#include "pipeline/flow/maps/registry.hpp"
#include "pipeline/measure/sketches/count_min.hpp"
#include "pipeline/measure/sketches/heavy_keeper.hpp"
#include "pipeline/measure/sketches/space_saving.hpp"

namespace parshall::lab {
namespace {

constexpr std::size_t kValueSizes[] = {4, 8, 16, 32, 64, 128, 256};

/// run.operator()<Key, Value>() with the types of a shape. Throws nothing of its own; an unsupported shape is nothing.
template <class Run>
void with_types(const Shape& shape, Run run) {
  using FiveTuple = LabKey<16>;
  if (shape.task == Task::heavy_hitter) return run.template operator()<FiveTuple, HeavyHitterValue>();
  if (shape.task == Task::superspreader) return run.template operator()<FiveTuple, SuperspreaderValue>();
  if (shape.task == Task::change) return run.template operator()<FiveTuple, ChangeValue>();
  if (shape.key_bytes == 8) return run.template operator()<LabKey<8>, CountValue<16>>();
  if (shape.key_bytes == 40) return run.template operator()<LabKey<40>, CountValue<16>>();
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((kValueSizes[I] == shape.value_bytes ? run.template operator()<FiveTuple, CountValue<kValueSizes[I]>>() : void()),
     ...);
  }
  (std::make_index_sequence<std::size(kValueSizes)>());
}

template <template <class Key, class Value> class Made>
std::unique_ptr<Candidate> make(std::size_t entries, const Shape& shape, std::uint64_t seed, TaskTally tally) {
  std::unique_ptr<Candidate> made;
  with_types(shape, [&]<class Key, class Value>() { made = std::make_unique<Made<Key, Value>>(entries, seed, tally); });
  return made;
}
template <template <class Key, class Value> class Made>
std::size_t memory(std::size_t entries, const Shape& shape) {
  std::size_t bytes = 0;
  with_types(shape, [&]<class Key, class Value>() { bytes = Made<Key, Value>::memory_bytes(entries); });
  return bytes;
}

/// A structure that is made for a value: `Map<Key, Value>` is a Candidate.
template <template <class Key, class Value> class Map>
constexpr TableUnderTest map_entry(std::string_view name, std::string_view help) {
  return {name, help, true, true, make<Map>, memory<Map>};
}

/// A table of the monitor, which has counters of its own, and rows beside for other tasks.
template <FlowTable Table>
struct TableOf {
  template <class Value>
  struct RowOf {
    using Row = Value;
  };
  template <std::size_t Bytes>
  struct RowOf<CountValue<Bytes>> {
    using Row = NoRows;
  };
  template <class Key, class Value>
  using Made = TableCandidate<Table, sizeof(Key), typename RowOf<Value>::Row>;
};
template <FlowTable Table>
constexpr TableUnderTest table_entry(std::string_view name, std::string_view help, bool whole_keys) {
  return {name, help, false, whole_keys, make<TableOf<Table>::template Made>, memory<TableOf<Table>::template Made>};
}

/// A sketch, which keeps nothing but counts: `Made<Key, Value>` is a Candidate.
template <template <class Key, class Value> class Made>
constexpr TableUnderTest sketch_entry(std::string_view name, std::string_view help) {
  return {name, help, false, false, make<Made>, memory<Made>, true};
}

/// What every other one spends before it looks anything up.
template <class Key, class>
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

template <NamedMap Named>
struct MapOf {
  template <class Key, class Value>
  using Made = MapCandidate<typename Named::template Map<Key, Value, LabHasher>>;
};

/// Heavy hitters of 0.1 % of the packets are a thousand at most; ten times that keeps their counts near the truth.
constexpr std::size_t kListed = 10'000;
constexpr SketchSize three_rows(std::size_t flows) noexcept { return {flows, 3}; }
constexpr SketchSize listed_keys(std::size_t flows) noexcept { return {std::min(flows, kListed)}; }
constexpr SketchSize two_rows_of_buckets(std::size_t flows) noexcept { return {8 * std::min(flows, kListed), 2}; }

template <class K, class V>
using OfCountMin = SketchCandidate<CountMin<K>, V, three_rows>;
template <class K, class V>
using OfConservative = SketchCandidate<CountMin<K, CountMinUpdate::conservative>, V, three_rows>;
template <class K, class V>
using OfSpaceSaving = SketchCandidate<SpaceSaving<K>, V, listed_keys>;
template <class K, class V>
using OfHeavyKeeper = SketchCandidate<HeavyKeeper<K>, V, two_rows_of_buckets>;

constexpr TableUnderTest kSketches[] = {
    {"count-array", "sketch: an array of 4 or more counters, or values, for each flow, and one hash", false, false,
     make<CountArrayCandidate>, memory<CountArrayCandidate>},
    sketch_entry<OfCountMin>("count-min", "sketch: three rows of 1 or more counters for each flow, with a hash each"),
    sketch_entry<OfConservative>("count-min-conservative", "sketch: the same; only a key's smallest counters count"),
    sketch_entry<OfSpaceSaving>("space-saving", "sketch: a heap of at most 10,000 keys"),
    sketch_entry<OfHeavyKeeper>(
        "heavy-keeper", "sketch: two rows of 8 or more fingerprints and counts for each of 10,000 keys at most"),
};

constexpr TableUnderTest kMonitors[] = {
    table_entry<ExactTable>("bucketed", "the monitor's: two whole keys and their counters in each cache line", true),
    table_entry<FingerprintTable>("bucketed-fingerprint",
                                  "the monitor's: three 32-bit tags and their counters in each cache line", false),
};
constexpr TableUnderTest kReferences[] = {
    map_entry<UnorderedMapCandidate>("unordered-map", "std::unordered_map, without prefetching"),
    map_entry<AbslCandidate>("absl-flat", "absl::flat_hash_map, without prefetching"),
    {"nothing", "keys and hashes alone", false, false, make<KeysAlone>, memory<KeysAlone>},
};

/// Those, and between them every map and sketch.
constexpr auto kTables = [] {
  constexpr auto kMaps =
      Maps::each([]<NamedMap Named>() { return map_entry<MapOf<Named>::template Made>(Named::kName, Named::kHelp); });
  std::array<TableUnderTest, std::size(kMonitors) + kMaps.size() + std::size(kSketches) + std::size(kReferences)> all{};
  auto end = std::ranges::copy(kMonitors, all.begin()).out;
  end = std::ranges::copy(kMaps, end).out;
  end = std::ranges::copy(kSketches, end).out;
  std::ranges::copy(kReferences, end);
  return all;
}();

constexpr RteMemberSize every_packet(std::size_t flows) noexcept { return {4 * flows, std::min(flows, kListed), 1}; }
constexpr RteMemberSize one_in_100(std::size_t flows) noexcept { return {4 * flows, std::min(flows, kListed), 0.01}; }
template <class K, class V>
using OfRteMember = RteMemberCandidate<K, V, every_packet>;
template <class K, class V>
using OfRteMemberSampled = RteMemberCandidate<K, V, one_in_100>;

constexpr TableUnderTest kDpdkTables[] = {
    map_entry<RteHashCandidate>("rte-hash", "DPDK's rte_hash: CRC, bulk lookup, values beside"),
    sketch_entry<OfRteMember>("rte-member", "sketch: DPDK's rte_member, five rows of 4 64-bit counters for each flow"),
    sketch_entry<OfRteMemberSampled>("rte-member-sampled", "sketch: the same, one update in 100 is made"),
};

}  // namespace

std::span<const TableUnderTest> tables_under_test() noexcept {
  static const std::vector<TableUnderTest> all = [] {
    std::vector<TableUnderTest> tables(kTables.begin(), kTables.end());
    if (RteHashIndex::available()) tables.insert(tables.end(), std::begin(kDpdkTables), std::end(kDpdkTables));
    return tables;
  }();
  return all;
}
std::span<const TableUnderTest> sketches_under_test() noexcept {
  static const std::vector<TableUnderTest> all = [] {
    std::vector<TableUnderTest> sketches(std::begin(kSketches), std::end(kSketches));
    for (const TableUnderTest& table : tables_under_test())
      if (table.counts_alone && std::ranges::find(sketches, table.name, &TableUnderTest::name) == sketches.end())
        sketches.push_back(table);
    return sketches;
  }();
  return all;
}
std::span<const std::size_t> value_sizes() noexcept { return kValueSizes; }
std::span<const std::size_t> key_sizes() noexcept { return kKeySizes; }

}  // namespace parshall::lab
