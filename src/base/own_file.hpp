// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace parshall {

/// Returns the file of this program, for what is installed beside it; without /proc, the path that it was started by.
/// Empty: unknown.
[[nodiscard]] std::filesystem::path own_file();

}  // namespace parshall
