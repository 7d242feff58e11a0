// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace parshall {

/// Whether writing to `output` would overwrite `input`, which is there.
bool same_file(const std::string& input, const std::string& output);

}  // namespace parshall
