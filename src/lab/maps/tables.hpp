// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "engine/tables.hpp"

namespace parshall::lab {

/// Tables beside the monitor's own: one over each map.
std::span<const TableEntry> rival_tables() noexcept;

}  // namespace parshall::lab
