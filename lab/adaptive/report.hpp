// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/figures/figures.hpp"
#include "lab/adaptive/experiment.hpp"

namespace parshall::lab {

std::span<const Column> adaptive_columns() noexcept;

/// Makes a row for each run and task, and one for all tasks of a run.
Part adaptive_part(std::span<const AdaptiveRow> rows);

}  // namespace parshall::lab
