// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "base/figures/harness.hpp"

namespace parshall::lab {

struct Rival {
  std::string_view name;
  Cost cost;
};

/// Returns a line about rivals that all achieved what is asked ("counted every flow exactly"): which is cheapest, or
/// that none is, since intervals overlap or there are too few samples.
std::string cheapest_of(std::span<const Rival> rivals, std::string_view did);

}  // namespace parshall::lab
