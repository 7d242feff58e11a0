// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "base/figures/figures.hpp"
#include "base/figures/plot.hpp"
#include "monitor/profile/profile_experiment.hpp"

namespace parshall::lab {

std::span<const Column> profile_columns() noexcept;
Part profile_part(const ProfileFigures& figures);

/// Draws histograms of both retrieval times, each with the densities of its three models.
Plot profile_plot(const ProfileFigures& figures);

}  // namespace parshall::lab
