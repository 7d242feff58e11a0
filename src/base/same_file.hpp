// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace parshall {

/// Returns the absolute path without links that a path leads to, even if nothing is there yet.
std::string resolved_path(const std::string& path);

/// Returns whether writing to one path would overwrite the other, because both lead to one file, which may not exist
/// yet. Standard input and output ("-"), devices and pipes do not count as files.
bool same_file(const std::string& one, const std::string& other);

}  // namespace parshall
