// SPDX-License-Identifier: Apache-2.0
#include "cli/parse_problem.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/unknown_word.hpp"

namespace parshall::cli {
namespace {

/// Returns the option that a message begins with, of the command or of those around it; null where it is of none.
const CLI::Option* option_in(const std::string& message, const CLI::App* command) {
  for (; command != nullptr; command = command->get_parent())
    for (const CLI::Option* option : command->get_options())
      if (const std::string name = option->get_name();
          message.starts_with(name) && message.find_first_of(": ", name.size()) == name.size())
        return option;
  return nullptr;
}

/// Returns the names of commands that help shows.
std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* each : app.get_subcommands([](const CLI::App* any) { return !any->get_group().empty(); }))
    names.push_back(each->get_name());
  return names;
}

/// Returns what a value of it is, as help says.
std::string value_of(const CLI::Option& option) {
  const std::string takes = option.get_type_name();
  return takes.starts_with("INT") || takes.starts_with("UINT") || takes.starts_with("COUNT") ? "a whole number"
         : takes.starts_with("FLOAT") || takes.starts_with("NUMBER")                         ? "a number"
         : takes.starts_with("TIME")                                                         ? "a time, such as 10s"
                                                                                             : "a value";
}

std::string required(const std::string& message, const CLI::App& command) {
  const CLI::Option* const option = option_in(message, &command);
  if (option == nullptr) return fmt::format("name a command: {}", fmt::join(commands_of(command), ", "));
  const std::string word = option->get_positional() ? option->get_name(true) : option->get_name() + " VALUE";
  return fmt::format("{} is missing ({}): {} {}", option->get_name(), option->get_description(), path_of(command),
                     word);
}

std::string mismatch(const std::string& message, const CLI::App& command) {
  const CLI::Option* const option = option_in(message, &command);
  if (option == nullptr) return message;
  if (message.find("At Most") != std::string::npos)
    return fmt::format("{} is given more than once: {} takes one", option->get_name(), path_of(command));
  return fmt::format("{} needs {}: {}", option->get_name(), value_of(*option), option->get_description());
}

std::string conversion(const std::string& message, const CLI::App& command) {
  constexpr std::string_view kBegin = "Could not convert: ";
  const bool is_value = message.starts_with(kBegin);
  const std::string rest = is_value ? message.substr(kBegin.size()) : message;
  const CLI::Option* const option = option_in(rest, &command);
  if (option == nullptr) return message;
  const std::size_t equals = rest.find(" = ");
  if (!is_value || equals == rest.npos || option->get_items_expected_max() == 0)
    return fmt::format("{} takes no value: give it alone", option->get_name());
  return fmt::format("{} {}: give {}", option->get_name(), rest.substr(equals + 3), value_of(*option));
}

/// Leaves out the name of a positional word, which nobody typed, and writes "--top x: give ..." for "--top: x: give
/// ...".
std::string validation(const std::string& message, const CLI::App& command) {
  const CLI::Option* const option = option_in(message, &command);
  if (option == nullptr || !message.starts_with(option->get_name() + ": ")) return message;
  const std::string rest = message.substr(option->get_name().size() + 2);
  if (option->get_lnames().empty()) return rest;
  return rest.find(": give ") == rest.npos ? message : fmt::format("{} {}", option->get_name(), rest);
}

}  // namespace

Error parse_problem(const CLI::ParseError& refused, const CLI::App& program) {
  if (auto unknown = unknown_word_problem(program)) return *std::move(unknown);
  const CLI::App& command = deepest_parsed(program);
  const std::string message = refused.what(), kind = refused.get_name();
  return Error{kind == "RequiredError"      ? required(message, command)
               : kind == "ArgumentMismatch" ? mismatch(message, command)
               : kind == "ConversionError"  ? conversion(message, command)
               : kind == "ValidationError"  ? validation(message, command)
                                            : message};
}

}  // namespace parshall::cli
