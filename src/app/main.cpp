// SPDX-License-Identifier: Apache-2.0
#include "app/commands.hpp"
#include "app/privileges.hpp"
#include "cli/program.hpp"
#include "cli/sibling.hpp"

namespace {

using namespace parshall::cli;

void add_commands(Command program, int& status) {
  add_watch(program, status);
  add_classify(program, status);
  add_compare(program, status);
  add_send(program, status);
  add_train(program, status);
  add_verify(program, status);
  std::vector<Topic> topics = monitor_topics();
  for (const Sibling& sibling : siblings()) {
    program.add_subcommand(std::string(sibling.command), std::string(sibling.help));
    for (const auto& [topic, help] : sibling.topics)
      if (!topic.empty()) topics.push_back({topic, help, nullptr});
  }
  add_list(program, std::move(topics));
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<char*> words = with_help_option(argc, argv);
  argc = static_cast<int>(words.size());
  words.push_back(nullptr);
  argv = words.data();
  use_permitted_capabilities();
  if (const auto status = become_sibling(argc, argv)) return *status;
  return run_program({.about = "Parshall watches every packet of a link and keeps exact statistics per flow.",
                      .part = "",
                      .part_is_own = false,
                      .reads_config = true,
                      .add = add_commands},
                     argc, argv);
}
