// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace parshall::lab {

/// Starts DPDK without devices, for its tables alone, where nobody has. Throws std::bad_alloc where it does not start.
void start_environment();

/// DPDK keeps its tables by name.
std::string unique_name(const char* kind);

}  // namespace parshall::lab
