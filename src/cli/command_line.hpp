// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace parshall::cli {

/// Returns this program's command line, quoted for a shell; characters that are not printable are escaped.
std::string command_line();

}  // namespace parshall::cli
