// SPDX-License-Identifier: Apache-2.0
#include "cli/topics.hpp"

#include <fmt/core.h>

#include <memory>
#include <string>

namespace parshall::cli {

void add_list(Command program, std::vector<Topic> topics) {
  Command command = program.add_subcommand("list", "List the values that options accept");
  auto topic = std::make_shared<std::string>();
  std::vector<std::string> names;
  for (const Topic& known : topics) names.emplace_back(known.name);
  command->add_option("topic", *topic, "Topic to list (none: list the topics)")->check(among(names, "parshall list"));
  command->callback([topic, topics = std::move(topics)] {
    if (topic->empty()) {
      for (const Topic& known : topics) fmt::print("{:<12} {}\n", known.name, known.help);
      return;
    }
    for (const Topic& known : topics)
      if (*topic == known.name && known.print != nullptr) known.print();
  });
}

}  // namespace parshall::cli
