// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "base/result.hpp"

namespace parshall::cli {

/// Returns the place for a configuration file: $XDG_CONFIG_HOME/parshall, else ~/.config/parshall. Error: the
/// environment defines neither.
Result<std::string> configuration_path(const std::string& name);

/// Creates the folders above `path`. Error: nothing could be written there later.
std::optional<Error> prepare_for(const std::string& path);

/// Writes `text` completely or not at all: to a new file beside `path`, which then replaces it, following links. "-" is
/// standard output. A path that is no regular file, such as a pipe, is written directly.
std::optional<Error> write_whole(const std::string& path, const std::string& text);

}  // namespace parshall::cli
