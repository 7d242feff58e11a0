// SPDX-License-Identifier: Apache-2.0
#include "lab/tables/tables.hpp"

#include <algorithm>
#include <vector>

#include "lab/dpdk/rte_hash_candidate.hpp"
#include "lab/dpdk/rte_member_candidate.hpp"
#include "lab/tables/bucketed_counts.hpp"
#include "lab/tables/count_array_candidate.hpp"
#include "lab/tables/keyed_counts.hpp"
#include "lab/tables/sketch_candidate.hpp"
#include "lab/tables/table_entry.hpp"
#include "lab/tables/value_heap_candidate.hpp"
#include "pipeline/measure/sketches/count_min.hpp"
#include "pipeline/measure/sketches/heavy_keeper.hpp"
#include "pipeline/measure/sketches/space_saving.hpp"

namespace parshall::lab {
namespace {

/// Number of keys in lists. At most a thousand flows have 0.1 % of the packets; ten times that keeps their counts near
/// the truth.
constexpr std::size_t kListed = 10'000;
constexpr SketchSize one_row(std::size_t flows) noexcept { return {flows}; }
constexpr SketchSize three_rows(std::size_t flows) noexcept { return {flows, 3}; }
constexpr SketchSize listed_keys(std::size_t flows) noexcept { return {std::min(flows, kListed)}; }
constexpr SketchSize two_rows_of_buckets(std::size_t flows) noexcept { return {8 * std::min(flows, kListed), 2}; }

template <class K, class V>
using OfBucketedCounts = SketchCandidate<BucketedCounts<K>, V, one_row>;
template <class K, class V>
using OfAddedKeys = SketchCandidate<KeyedCounts<K, OnOtherKey::add>, V, one_row>;
template <class K, class V>
using OfReplacedKeys = SketchCandidate<KeyedCounts<K, OnOtherKey::replace>, V, one_row>;
template <class K, class V>
using OfCountMin = SketchCandidate<CountMin<K>, V, three_rows>;
template <class K, class V>
using OfConservative = SketchCandidate<CountMin<K, CountMinUpdate::conservative>, V, three_rows>;
template <class K, class V>
using OfSpaceSaving = SketchCandidate<SpaceSaving<K>, V, listed_keys>;
template <class K, class V>
using OfHeap = SketchCandidate<SpaceSaving<K>, V, one_row>;
template <class K, class V>
using OfHeavyKeeper = SketchCandidate<HeavyKeeper<K>, V, two_rows_of_buckets>;

constexpr TableUnderTest kCounts[] = {
    sketch_entry<OfBucketedCounts>(
        "bucketed-count", "the monitor's table without keys and times: eight 32-bit tags and counts in a line"),
};
constexpr TableUnderTest kSketches[] = {
    {"count-array", "sketch: an array of 4 or more counters, or values, for each flow, and one hash", false, false,
     make<CountArrayCandidate>, memory<CountArrayCandidate>},
    {"count-array-values", "sketch: an array of 4 or more values for each flow, and one hash", true, false,
     make<ValueArrayCandidate>, memory<ValueArrayCandidate>},
    sketch_entry<OfAddedKeys>("count-array-keys", "sketch: a counter for each flow, and its last packet's key"),
    sketch_entry<OfReplacedKeys>("count-array-replace",
                                 "sketch: the same; a packet of another key starts the count over"),
    sketch_entry<OfCountMin>("count-min", "sketch: three rows of 1 or more counters for each flow, with a hash each"),
    sketch_entry<OfConservative>("count-min-conservative",
                                 "sketch: the same, but only a key's smallest counters are increased"),
    sketch_entry<OfSpaceSaving>("space-saving", "sketch: a heap of at most 10,000 keys"),
    sketch_entry<OfHeap>("heap", "sketch: the same heap, with a key for each flow"),
    {"heap-values", "sketch: the same, with a value for each key beside its count, and with prefetching", true, false,
     make<ValueHeapCandidate>, memory<ValueHeapCandidate>},
    sketch_entry<OfHeavyKeeper>(
        "heavy-keeper", "sketch: two rows of 8 or more fingerprints and counts for each of 10,000 keys at most"),
};

constexpr RteMemberSize every_packet(std::size_t flows) noexcept { return {4 * flows, std::min(flows, kListed), 1}; }
constexpr RteMemberSize one_in_100(std::size_t flows) noexcept { return {4 * flows, std::min(flows, kListed), 0.01}; }
template <class K, class>
using OfRteMember = RteMemberCandidate<K, every_packet>;
template <class K, class>
using OfRteMemberSampled = RteMemberCandidate<K, one_in_100>;

constexpr TableUnderTest kDpdkTables[] = {
    map_entry<RteHashCandidate>("rte-hash", "DPDK's rte_hash: CRC, bulk lookup, values beside"),
    sketch_entry<OfRteMember>("rte-member", "sketch: DPDK's rte_member, five rows of 4 64-bit counters for each flow"),
    sketch_entry<OfRteMemberSampled>("rte-member-sampled", "sketch: the same, with one update in 100"),
};

}  // namespace

std::span<const TableUnderTest> tables_under_test() noexcept {
  static const std::vector<TableUnderTest> all = [] {
    std::vector<TableUnderTest> tables;
    for (const std::span<const TableUnderTest> some :
         {monitors_under_test(), std::span<const TableUnderTest>(kCounts), maps_of_part<0>(), maps_of_part<1>(),
          maps_of_part<2>(), maps_of_part<3>(), chains_under_test(), std::span<const TableUnderTest>(kSketches),
          references_under_test()})
      tables.insert(tables.end(), some.begin(), some.end());
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
