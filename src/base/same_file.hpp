// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace parshall {

/// Returns where a path leads: absolute, without links, also where nothing is there yet.
std::string resolved_path(const std::string& path);

/// Whether writing to one path would overwrite the other: both lead to one file, which may not be there yet. Standard
/// input and output ("-"), devices and pipes are no files.
bool same_file(const std::string& one, const std::string& other);

}  // namespace parshall
