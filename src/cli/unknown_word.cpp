// SPDX-License-Identifier: Apache-2.0
#include "cli/unknown_word.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/suggestion.hpp"

namespace parshall::cli {
namespace {

const CLI::App& deepest_parsed(const CLI::App& app) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  return *command;
}

std::string path_of(const CLI::App& command) {
  const CLI::App* const parent = command.get_parent();
  return parent == nullptr ? command.get_name() : path_of(*parent) + " " + command.get_name();
}

}  // namespace

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    if (!option->get_group().empty() && !option->get_lnames().empty()) names.push_back(option->get_lnames().front());
  return names;
}

std::optional<Error> unknown_word_problem(const CLI::App& program) {
  const std::vector<std::string> words = program.remaining(/*recurse=*/true);
  if (words.empty()) return std::nullopt;
  const CLI::App& command = deepest_parsed(program);
  std::string word = words.front();
  std::vector<std::string> names;
  const bool is_option = word.starts_with('-');
  if (is_option) {
    word = word.substr(0, word.find('='));
    for (const std::string& name : option_names(command)) names.push_back("--" + name);
  } else {
    for (const CLI::App* each : command.get_subcommands([](const CLI::App* any) { return !any->get_group().empty(); }))
      names.push_back(each->get_name());
  }
  const std::string path = path_of(command);
  if (!is_option && names.empty()) return Error{fmt::format("{}: {} is a word too many", path, word)};
  return Error{fmt::format("{} has no {} {}{}", path, is_option ? "option" : "command", word, suggestion(word, names))};
}

}  // namespace parshall::cli
