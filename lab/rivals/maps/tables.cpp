// SPDX-License-Identifier: Apache-2.0
#include "lab/rivals/maps/tables.hpp"

#include "engine/table_entry.hpp"
#include "lab/rivals/maps/map_table.hpp"
#include "lab/rivals/maps/registry.hpp"

namespace parshall::lab {

std::span<const TableEntry> rival_tables() noexcept {
  static constexpr auto kTables = Maps::each([]<NamedMap Named>() {
    return table_entry<MapTable<typename Named::template Map<HashedKey<FlowKey>, FlowValue, KeptHash>>>(
        Named::kName, true, 0, Named::kHelp);
  });
  return kTables;
}

}  // namespace parshall::lab
