// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "lab/rivals/maps/registry.hpp"
#include "lab/tables/map_candidate.hpp"
#include "lab/tables/table_entry.hpp"

namespace parshall::lab {

template <NamedMap Named>
struct MapOf {
  template <class Key, class Value>
  using Made = MapCandidate<typename Named::template Map<Key, Value, LabHasher>>;
};

/// Compiles each part in a file of its own, tables_maps_*.cpp: a map is instantiated for each key, value and task,
/// which takes minutes.
template <std::size_t Part>
std::span<const TableUnderTest> maps_of_part() noexcept {
  static constexpr auto kMaps = Maps::each<Maps::kSize * Part / kMapParts, Maps::kSize*(Part + 1) / kMapParts>(
      []<NamedMap Named>() { return map_entry<MapOf<Named>::template Made>(Named::kName, Named::kHelp); });
  return kMaps;
}

}  // namespace parshall::lab
