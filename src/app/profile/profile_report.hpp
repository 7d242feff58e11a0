// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "app/profile/profile_experiment.hpp"
#include "base/figures/figures.hpp"
#include "base/figures/plot.hpp"

namespace parshall::lab {

std::span<const Column> profile_columns() noexcept;
Part profile_part(const ProfileFigures& figures);

/// Draws histograms of both retrieval times, each with the densities of its three models.
Plot profile_plot(const ProfileFigures& figures);

}  // namespace parshall::lab
