// SPDX-License-Identifier: Apache-2.0
#include "lab/map_candidate.hpp"
#include "lab/table_entry.hpp"
#include "pipeline/flow/maps/registry.hpp"

namespace parshall::lab {
namespace {

template <NamedMap Named>
struct MapOf {
  template <class Key, class Value>
  using Made = MapCandidate<typename Named::template Map<Key, Value, LabHasher>>;
};

constexpr auto kMaps =
    Maps::each([]<NamedMap Named>() { return map_entry<MapOf<Named>::template Made>(Named::kName, Named::kHelp); });

}  // namespace

std::span<const TableUnderTest> maps_under_test() noexcept { return kMaps; }

}  // namespace parshall::lab
