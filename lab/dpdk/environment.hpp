// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace parshall::lab {

/// Starts DPDK without devices, for its tables only, unless it is running. Throws std::bad_alloc if it does not start.
void start_environment();

/// Returns an unused name, since DPDK identifies its tables by name.
std::string unique_name(const char* kind);

}  // namespace parshall::lab
