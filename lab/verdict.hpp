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

/// Returns a line about rivals that all achieved what was asked ("counted every flow exactly"). It names the cheapest,
/// or says that there is none, because intervals overlap or there are too few samples.
std::string cheapest_of(std::span<const Rival> rivals, std::string_view did);

}  // namespace parshall::lab
