// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace parshall::tester {

/// Raises this process's limit of open files to `wanted`, or as far as allowed; returns the new limit.
std::uint64_t allow_open_files(std::uint64_t wanted) noexcept;

}  // namespace parshall::tester
