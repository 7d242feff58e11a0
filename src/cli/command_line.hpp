// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace parshall::cli {

/// How this program was called, as a shell would be told again; bytes beyond ASCII are question marks.
std::string command_line();

}  // namespace parshall::cli
