// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "lab/figures.hpp"
#include "lab/plot.hpp"
#include "lab/profile_experiment.hpp"

namespace parshall::lab {

std::span<const Column> profile_columns() noexcept;
Part profile_part(const ProfileFigures& figures);

/// Histograms of both retrieval times, each with the densities of its three models.
Plot profile_plot(const ProfileFigures& figures);

}  // namespace parshall::lab
