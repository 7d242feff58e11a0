// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <span>
#include <string>

namespace parshall {

/// TMPDIR, or /tmp.
std::string temporary_folder();

/// A file there that nobody else sees, and that goes when it is closed: -1, and errno says why, where there can be
/// none.
int open_unnamed();

/// False, and errno says why: then a part of them may be in the file.
bool write_all(int file, std::span<const std::byte> bytes);

}  // namespace parshall
