// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace parshall {

/// Returns the version of this library and its programs.
std::string version();

}  // namespace parshall
