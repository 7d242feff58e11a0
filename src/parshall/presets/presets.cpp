// SPDX-License-Identifier: Apache-2.0
#include "parshall/presets/presets.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/parse_toml.hpp"
#include "base/suggestion.hpp"
#include "parshall/preset_texts.hpp"

namespace parshall {

std::span<const Preset> presets() noexcept { return kPresets; }

Result<std::vector<std::string>> tasks_of_preset(const std::string& name) {
  const auto preset = std::ranges::find(kPresets, name, &Preset::name);
  if (preset == std::end(kPresets))
    return Error{
        fmt::format("--preset {}{}", name, suggestion(name, kPresets, &Preset::name, "parshall list presets"))};
  std::vector<std::string> tasks;
  const toml::table table = toml::parse(preset->text);
  for (const toml::node& task : *table["task"].as_array()) tasks.push_back(**task.as_string());
  return tasks;
}

}  // namespace parshall
