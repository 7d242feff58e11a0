// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "base/figures/figures.hpp"
#include "lab/profile/experiment.hpp"

namespace parshall::lab {

std::span<const Column> profile_columns() noexcept;
Part profile_part(const ProfileFigures& figures);

}  // namespace parshall::lab
