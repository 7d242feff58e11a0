// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>

#include "base/figures/figures.hpp"
#include "lab/table_experiment.hpp"

namespace parshall::lab {

std::span<const Column> table_columns() noexcept;

/// With a verdict.
Part table_part(std::span<const TableRow> rows);

/// One line on what a combination's figures allow to say of the tables that counted every flow exactly: which is
/// cheapest, or that none is, since its interval overlaps another's or has too few samples.
std::string verdict(std::span<const TableRow> rows);

}  // namespace parshall::lab
