// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>

#include "base/figures/figures.hpp"
#include "lab/contention/contention.hpp"

namespace parshall::lab {

std::span<const Column> contention_columns() noexcept;

/// Makes the report, with a verdict.
Part contention_part(std::span<const ContentionRow> rows);

/// Returns a line with the conclusions about ways that end in one table and lose nothing.
std::string verdict(std::span<const ContentionRow> rows);

}  // namespace parshall::lab
