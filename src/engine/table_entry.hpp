// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "engine/table_stage.hpp"
#include "engine/tables.hpp"

namespace parshall {

/// Makes the registry entry of a table, with the stage over it.
template <FlowTable Table>
constexpr TableEntry table_entry(std::string_view name, bool exact, unsigned tag_bits, std::string_view help) {
  constexpr auto kMake = [](const FlowStageOptions& options) -> std::unique_ptr<FlowStage> {
    return std::make_unique<TableStage<Table>>(options);
  };
  return {name, exact, tag_bits, help, kMake, Table::memory_bytes, Table::slots_for};
}

}  // namespace parshall
