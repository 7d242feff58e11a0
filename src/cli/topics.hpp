// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>
#include <vector>

#include "cli/options.hpp"

namespace parshall::cli {

/// What the subcommand list can show.
struct Topic {
  std::string_view name;
  void (*print)();  ///< null: another program's, which parshall becomes before it gets here
};

/// Adds `list TOPIC`.
void add_list(Command program, std::vector<Topic> topics);

}  // namespace parshall::cli
