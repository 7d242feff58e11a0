// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <span>
#include <string>

namespace parshall {

/// Returns TMPDIR, or /tmp.
std::string temporary_folder();

/// Opens a file there that no other program sees, and that disappears when closed. Returns -1, with the reason in
/// errno, if that is not possible.
int open_unnamed();

/// Writes all bytes. Returns false, with the reason in errno, on an error; a part may then be in the file.
bool write_all(int file, std::span<const std::byte> bytes);

}  // namespace parshall
