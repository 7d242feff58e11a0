// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "base/figures/figures.hpp"
#include "lab/parse/experiment.hpp"

namespace parshall::lab {

std::span<const Column> parse_columns() noexcept;
Part parse_part(std::span<const ParseRow> rows);

}  // namespace parshall::lab
