// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace parshall::tester {

/// Lets this process have that many files open, or as many as it may; returns how many it may have then.
std::uint64_t allow_open_files(std::uint64_t wanted) noexcept;

}  // namespace parshall::tester
