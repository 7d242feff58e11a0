// SPDX-License-Identifier: Apache-2.0
#include "cli/short_help.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace parshall::cli {
namespace {

constexpr std::size_t kNameWidth = 26;

/// Formats the names of an option with its argument, such as "-r,--read TEXT".
std::string usage_of(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(/*positional=*/true);
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  const bool has_argument = option.get_items_expected_max() != 0;
  std::string argument = has_argument ? option.get_type_name() : "";
  if (argument.starts_with('{')) argument = "WORD";
  argument = argument.substr(0, argument.find(":{"));  // words that a check allows
  if (argument.starts_with("INT")) argument = "COUNT";
  return fmt::format("{}{}{}", fmt::join(names, ","), argument.empty() ? "" : " ", argument);
}

/// Formats the help text with the default value or the words that are possible.
std::string help_of(const CLI::Option& option) {
  const std::string& words = option.get_type_name();
  return fmt::format("{}{}{}", option.get_description(), words.starts_with('{') ? ": " + words : "",
                     option.get_default_str().empty() ? "" : fmt::format(" [{}]", option.get_default_str()));
}

}  // namespace

bool ShortHelp::shows(const CLI::Option& option) const {
  const auto is_named = [&](const std::string& name) { return std::ranges::find(names_, name) != names_.end(); };
  return option.get_positional() ? is_named(option.get_name(true)) : std::ranges::any_of(option.get_lnames(), is_named);
}

std::string ShortHelp::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const {
  if (mode != CLI::AppFormatMode::Normal) return CLI::Formatter::make_help(app, name, mode);
  std::string text = app->get_description() + "\n" + make_usage(app, name);
  while (text.ends_with("\n\n")) text.pop_back();
  for (const std::string& group : app->get_groups()) {
    std::string lines;
    for (const CLI::Option* option : app->get_options())
      if (option->get_group() == group && shows(*option))
        lines += fmt::format("  {:<{}} {}\n", usage_of(*option), kNameWidth, help_of(*option));
    if (!lines.empty()) text += fmt::format("{}:\n{}", group, lines);
  }
  const auto all =
      std::ranges::count_if(app->get_options(), [](const CLI::Option* option) { return !option->get_group().empty(); });
  return text + fmt::format("--help-all shows all {} options. {}\n", all, app->get_footer());
}

}  // namespace parshall::cli
