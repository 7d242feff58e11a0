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

/// What a setting takes.
enum class SettingKind : std::uint8_t {
  flag,      ///< nothing
  value,     ///< one word
  list,      ///< words, with commas between them
  repeated,  ///< a word each time it is given
  words,     ///< all words that follow, on the command line without its name too
};

/// One setting of a plan, by the name that the command line (--NAME), a TOML file and Python know it by.
struct PlanSetting {
  std::string name;
  std::string letter;  ///< of the command line; empty: none
  SettingKind kind;
  std::string group;
  std::string takes;  ///< for help; empty: text
  std::string help;
  std::string shown = {};                  ///< the default, as a user would write it; empty: none to show
  std::vector<std::string> excludes = {};  ///< names of settings that do not go with it
  std::string needs = {};                  ///< name of one that it is of

  /// Error: the words do not say what they should. A flag gets none.
  std::function<std::optional<Error>(Plan& plan, const std::vector<std::string>& words)> set;
};

/// Every setting there is, one each.
std::span<const PlanSetting> plan_settings();

/// The plan that TOML text says, one `name = value` a line, beginning with `plan`. `name` is what errors call the text.
Result<Plan> plan_of_toml(std::string_view text, const std::string& name, Plan plan = {});

}  // namespace parshall
