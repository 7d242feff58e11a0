// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdlib>

namespace parshall {

/// Whether tests that can take longer are to: PARSHALL_THOROUGH is set, as in `make nightly`.
inline bool thorough() { return std::getenv("PARSHALL_THOROUGH") != nullptr; }

}  // namespace parshall
