// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "engine/tables.hpp"

namespace parshall::lab {

/// Lists the tables that the monitor does not have: one over each map.
std::span<const TableEntry> rival_tables() noexcept;

}  // namespace parshall::lab
