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

/// Free, or given up by the page cache when asked for.
std::size_t available_bytes();

}  // namespace parshall::lab
