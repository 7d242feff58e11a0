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

/// The settings of a plan as options of a command. Outlives parsing.
class PlanOptions {
 public:
  /// All of this group, in the order of the table.
  void declare(Command command, std::string_view group);

  /// What was given, once the command has been parsed. Error: of the first word that is wrong.
  std::optional<Error> apply_to(Plan& plan) const;

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
