// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "engine/flow_monitor.hpp"
#include "engine/tables.hpp"

namespace parshall {

/// Makes the registry entry of a table, with the monitor over it.
template <FlowTable Table>
constexpr TableEntry table_entry(std::string_view name, bool exact, unsigned tag_bits, std::string_view help) {
  constexpr auto kMake = [](const FlowStageOptions& options) -> std::unique_ptr<FlowStage> {
    return std::make_unique<FlowMonitor<Table>>(options);
  };
  return {name, exact, tag_bits, help, kMake, Table::memory_bytes, Table::slots_for};
}

}  // namespace parshall
