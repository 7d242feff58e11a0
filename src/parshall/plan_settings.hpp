// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "parshall/plan.hpp"

namespace parshall {

/// Kind of argument that a setting takes.
enum class SettingKind : std::uint8_t {
  flag,      ///< nothing
  value,     ///< one word
  list,      ///< words separated by commas
  repeated,  ///< one word each time the setting is given
  words,     ///< all words that follow; on the command line also without its name
};

/// Describes one setting of a plan. The command line (--NAME), a TOML file and Python use the same name.
struct PlanSetting {
  std::string name;
  std::string letter;  ///< one-letter option; empty: none
  SettingKind kind;
  std::string group;
  std::string takes;  ///< placeholder for help; empty: text
  std::string help;
  std::string shown = {};                  ///< default as shown to users; empty: not shown
  std::vector<std::string> excludes = {};  ///< settings that exclude this one
  std::string needs = {};                  ///< setting that this one requires

  /// Applies the words to the plan; a flag gets none. Error: the words are not valid for this setting.
  std::function<std::optional<Error>(Plan& plan, const std::vector<std::string>& words)> set;
};

/// Adds settings that this program has beside those of every program. Call it before plan_settings().
void add_plan_settings(std::vector<PlanSetting> more);

/// Lists every setting once.
std::span<const PlanSetting> plan_settings();

/// Parses a plan from TOML text, one `name = value` a line, and applies it to `plan`. Errors refer to the text as
/// `name`.
Result<Plan> plan_of_toml(std::string_view text, const std::string& name, Plan plan = {});

}  // namespace parshall
