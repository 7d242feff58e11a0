// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "base/result.hpp"

namespace parshall::cli {

/// Where a configuration of that name belongs: $XDG_CONFIG_HOME/parshall, else ~/.config/parshall. Fails where the
/// environment names neither.
Result<std::string> configuration_path(const std::string& name);

/// Makes the folders that `path` is in. What is wrong, where nothing could be written there later.
std::optional<Error> prepare_for(const std::string& path);

/// Writes `text` to where `path` leads, all of it or nothing: to a new file beside it, which then takes its name. "-"
/// is standard output; what is no regular file, such as a pipe, is written to as it is.
std::optional<Error> write_whole(const std::string& path, const std::string& text);

}  // namespace parshall::cli
