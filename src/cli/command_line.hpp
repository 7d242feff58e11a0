// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace parshall::cli {

/// Returns how this program was called, as a shell would be told again; what is not printable is escaped.
std::string command_line();

}  // namespace parshall::cli
