// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "base/figures/figures.hpp"
#include "lab/classify/experiment.hpp"

namespace parshall::lab {

std::span<const Column> classify_columns() noexcept;

/// Makes the report. `source_ns`: cost of playing the traffic (ClassifyTraffic::source_ns()).
Part classify_part(const ClassifySweep& sweep, std::span<const ClassifyRow> rows, double source_ns);

}  // namespace parshall::lab
