// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "lab/map_candidate.hpp"
#include "lab/maps/registry.hpp"
#include "lab/table_entry.hpp"

namespace parshall::lab {

template <NamedMap Named>
struct MapOf {
  template <class Key, class Value>
  using Made = MapCandidate<typename Named::template Map<Key, Value, LabHasher>>;
};

/// Each part is compiled in a file of its own, tables_maps_*.cpp: a map is made for each key, value and task there is,
/// and that takes the compiler minutes.
template <std::size_t Part>
std::span<const TableUnderTest> maps_of_part() noexcept {
  static constexpr auto kMaps = Maps::each<Maps::kSize * Part / kMapParts, Maps::kSize*(Part + 1) / kMapParts>(
      []<NamedMap Named>() { return map_entry<MapOf<Named>::template Made>(Named::kName, Named::kHelp); });
  return kMaps;
}

}  // namespace parshall::lab
