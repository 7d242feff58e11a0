// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace parshall {

/// Tasks with thresholds for a kind of link, as a file for --config.
struct Preset {
  std::string_view name, text;
};

/// Returns all presets. To add one, write its .toml file and its name in meson.build.
std::span<const Preset> presets() noexcept;

/// Returns the tasks of the preset of that name. Fails if there is none.
Result<std::vector<std::string>> tasks_of_preset(const std::string& name);

}  // namespace parshall
