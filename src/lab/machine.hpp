// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace parshall::lab {

/// What a measurement depends on beside the program: (name, value) pairs, in the order to print them. What this
/// machine does not tell is not there.
std::vector<std::pair<std::string, std::string>> describe_machine();

/// Memory that is free, or that the page cache would give up.
std::size_t available_bytes();

}  // namespace parshall::lab
