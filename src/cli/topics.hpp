// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>
#include <vector>

#include "cli/options.hpp"

namespace parshall::cli {

/// Topic of the subcommand `list`.
struct Topic {
  std::string_view name, help;
  void (*print)();  ///< null: implemented by another program, which parshall executes instead
};

/// Adds `list TOPIC`.
void add_list(Command program, std::vector<Topic> topics);

}  // namespace parshall::cli
