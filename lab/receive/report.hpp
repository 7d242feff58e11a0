// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "base/figures/figures.hpp"
#include "lab/receive/experiment.hpp"

namespace parshall::lab {

std::span<const Column> receive_columns() noexcept;
Part receive_part(std::span<const ReceiveRow> rows);

}  // namespace parshall::lab
