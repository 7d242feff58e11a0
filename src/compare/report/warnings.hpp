// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compare/report/columns.hpp"

namespace parshall {

/// Returns a delay as "2.307 ms".
std::string delay_text(double ns);
inline std::string delay_text(std::int64_t ns) { return delay_text(static_cast<double>(ns)); }

/// Returns what may make the numbers wrong, a sentence each.
std::vector<std::string> warnings(const Compared& compared);

}  // namespace parshall
