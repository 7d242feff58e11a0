// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/options.hpp"
#include "parshall/plan_settings.hpp"

namespace parshall::cli {

/// Declares the settings of a plan as options of a command. Must outlive parsing.
class PlanOptions {
 public:
  /// Declares all settings of this group, in table order.
  void declare(Command command, std::string_view group);

  /// Applies the options given; call it after parsing. Error: that of the first invalid word.
  std::optional<Error> apply_to(Plan& plan) const;

  /// Returns the value in front of the first word of a setting that takes words, where these belong to no option.
  std::optional<ValueBefore> value_before(const std::string& name, const Command& command) const;

 private:
  struct Given {
    const PlanSetting* setting;
    Option option;
    std::vector<std::string> words = {};
    std::string word = {};
    bool flag = false;
  };

  std::deque<Given> given_;  ///< CLI11 keeps references
};

}  // namespace parshall::cli
