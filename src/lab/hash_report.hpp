// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>

#include "base/figures/figures.hpp"
#include "lab/hash_experiment.hpp"

namespace parshall::lab {

std::span<const Column> hash_columns() noexcept;

/// With a line on which hashes collide more often than chance would have it.
Part hash_part(std::span<const HashRow> rows);

}  // namespace parshall::lab
