// SPDX-License-Identifier: Apache-2.0
#include "cli/describe.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "base/version.hpp"
#include "cli/sibling.hpp"

namespace parshall::cli {
namespace {

using Json = nlohmann::ordered_json;

Json names_of(const std::set<CLI::Option*>& options) {
  std::vector<std::string> names;  // sorted, since a set of pointers has another order in each run
  names.reserve(options.size());
  for (const CLI::Option* option : options) names.push_back(option->get_name());
  std::ranges::sort(names);
  return names;
}

Json option_of(const CLI::Option& option) {
  Json names = Json::array();
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  const int words = option.get_items_expected_max();
  return {{"names", std::move(names)},
          {"positional", option.get_positional() ? option.get_name(true) : std::string()},
          {"group", option.get_group()},
          {"words", words < CLI::detail::expected_max_vector_size ? Json(words) : Json("more")},
          {"takes", option.get_type_name()},
          {"default", option.get_default_str()},
          {"required", option.get_required()},
          {"needs", names_of(option.get_needs())},
          {"excludes", names_of(option.get_excludes())},
          {"help", option.get_description()}};
}

Json tree_of(const CLI::App& app) {
  Json options = Json::array(), commands = Json::array();
  for (const CLI::Option* option : app.get_options())
    if (!option->get_group().empty()) options.push_back(option_of(*option));
  for (const CLI::App* command : app.get_subcommands([](const CLI::App* any) { return !any->get_group().empty(); })) {
    commands.push_back(tree_of(*command));
    for (const Sibling& sibling : siblings())
      if (app.get_name() == kMainProgram && command->get_name() == sibling.command)
        commands.back()["program"] = sibling.program;
  }
  return {{"name", app.get_name()},
          {"help", app.get_description()},
          {"footer", app.get_footer()},
          {"options", std::move(options)},
          {"commands", std::move(commands)}};
}

}  // namespace

std::string described(const CLI::App& app) {
  Json program = tree_of(app);
  program["version"] = version();
  return program.dump(1);
}

}  // namespace parshall::cli
