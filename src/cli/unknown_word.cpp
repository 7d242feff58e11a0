// SPDX-License-Identifier: Apache-2.0
#include "cli/unknown_word.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <net/if.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>

#include "base/suggestion.hpp"
#include "cli/foreign_option.hpp"

namespace parshall::cli {
namespace {

constexpr const char* kWatch = "watch";

bool is_source(const std::string& word) {
  struct stat there {};
  return (::stat(word.c_str(), &there) == 0 && !S_ISDIR(there.st_mode)) ||
         (word.size() < IFNAMSIZ && ::if_nametoindex(word.c_str()) != 0);
}

/// Quotes a word for a shell, where it needs that.
std::string quoted(const std::string& word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+,./:@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == word.npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

const CLI::App* command_named(const CLI::App& program, const std::string& name) {
  const auto found = program.get_subcommands([&name](const CLI::App* each) { return each->get_name() == name; });
  return found.empty() ? nullptr : found.front();
}

/// Returns true for topics of `list`.
bool is_topic(const CLI::App& program, const std::string& word) {
  const CLI::App* const list = command_named(program, "list");
  const CLI::Option* const topic = list == nullptr ? nullptr : list->get_option_no_throw("topic");
  if (topic == nullptr) return false;
  std::string names = topic->get_type_name();  // "TEXT:{tables,hashes}"
  std::ranges::replace_if(
      names, [](char c) { return c == '{' || c == '}'; }, ',');
  return names.find("," + word + ",") != names.npos;
}

/// Returns the command line that was meant where a command is missing; empty where none is likely.
std::string with_command(const CLI::App& program, const std::vector<std::string>& words) {
  std::vector<std::string> quoted_words;
  std::ranges::transform(words, std::back_inserter(quoted_words), quoted);
  const std::string &word = words.front(), all = fmt::format("{}", fmt::join(quoted_words, " "));
  if (is_topic(program, word)) return fmt::format("list {}", word);
  const CLI::App* const watch = command_named(program, kWatch);
  if (watch == nullptr) return {};
  if (word.starts_with("--") && command_named(program, word.substr(2)) != nullptr) return all.substr(2);
  const bool is_option = word.starts_with('-') && watch->get_option_no_throw(word.substr(0, word.find('='))) != nullptr;
  return is_option || is_source(word) ? fmt::format("{} {}", kWatch, all) : std::string();
}

Error no_option(const CLI::App& command, const std::string& given) {
  const std::string word = given.substr(0, given.find('='));
  if (const std::string with_two = "-" + word; command.get_option_no_throw(with_two) != nullptr)
    return Error{fmt::format("no option {}; did you mean {}?", word, with_two)};
  const bool watches = command.get_option_no_throw("--biflow") != nullptr;
  if (const std::string_view instead = watches ? in_place_of(word) : ""; !instead.empty())
    return Error{fmt::format("no option {}: {}", word, instead)};
  std::vector<std::string> names;
  for (const std::string& name : option_names(command)) names.push_back("--" + name);
  return Error{fmt::format("no option {}{}", word, suggestion(word, names))};
}

Error word_too_many(const CLI::App& command, const std::string& word) {
  const bool may_be_interface = is_source(word) || command.get_name() == "send";
  if (may_be_interface && command.get_option_no_throw("--interface") != nullptr)
    return Error{fmt::format("{0} is one word too many: to name an interface, write -i {0}", word)};
  return Error{fmt::format("{} is one word too many", word)};
}

}  // namespace

const CLI::App& deepest_parsed(const CLI::App& program) {
  const CLI::App* command = &program;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  return *command;
}

std::string path_of(const CLI::App& command) {
  const CLI::App* const parent = command.get_parent();
  return parent == nullptr ? command.get_name() : path_of(*parent) + " " + command.get_name();
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    if (!option->get_group().empty() && !option->get_lnames().empty()) names.push_back(option->get_lnames().front());
  return names;
}

std::optional<Error> unknown_word_problem(const CLI::App& program) {
  std::vector<std::string> words = program.remaining(/*recurse=*/true);
  std::erase(words, "--help");
  if (words.empty()) return std::nullopt;
  const CLI::App& command = deepest_parsed(program);
  const std::string& word = words.front();
  if (command.get_parent() == nullptr)
    if (const std::string meant = with_command(command, words); !meant.empty())
      return Error{fmt::format("no command is named; did you mean: {} {}", path_of(command), meant)};
  if (word.starts_with('-')) return no_option(command, word);
  std::vector<std::string> names;
  for (const CLI::App* each : command.get_subcommands([](const CLI::App* any) { return !any->get_group().empty(); }))
    names.push_back(each->get_name());
  if (names.empty()) return word_too_many(command, word);
  return Error{fmt::format("no command {}{}", word, suggestion(word, names))};
}

}  // namespace parshall::cli
