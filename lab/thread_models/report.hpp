// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "base/figures/figures.hpp"
#include "lab/thread_models/experiment.hpp"

namespace parshall::lab {

std::span<const Column> model_columns() noexcept;

/// Makes the report, with a verdict if fewer rounds were done than the sweep requested.
Part model_part(const ModelSweep& sweep, std::span<const ModelRow> rows);

}  // namespace parshall::lab
