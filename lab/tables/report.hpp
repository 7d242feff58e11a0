// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>

#include "base/figures/figures.hpp"
#include "lab/tables/experiment.hpp"

namespace parshall::lab {

std::span<const Column> table_columns() noexcept;

/// Makes the report, with a verdict.
Part table_part(std::span<const TableRow> rows);

/// Returns a line about the tables that counted every flow exactly: which is cheapest, or that none is, since intervals
/// overlap or there are too few samples.
std::string verdict(std::span<const TableRow> rows);

}  // namespace parshall::lab
