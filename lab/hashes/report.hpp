// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>

#include "base/figures/figures.hpp"
#include "lab/hashes/experiment.hpp"

namespace parshall::lab {

std::span<const Column> hash_columns() noexcept;

/// Makes the report, with a line on hashes that collide more often than by chance.
Part hash_part(std::span<const HashRow> rows);

}  // namespace parshall::lab
