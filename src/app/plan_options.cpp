// SPDX-License-Identifier: Apache-2.0
#include "app/plan_options.hpp"

#include <algorithm>
#include <cctype>

namespace parshall::cli {
namespace {

std::string names_of(const PlanSetting& setting) {
  if (setting.kind == SettingKind::words) {
    std::string positional = setting.name;
    std::ranges::transform(positional, positional.begin(), [](unsigned char c) { return std::toupper(c); });
    return positional + ",--" + setting.name;
  }
  return (setting.letter.empty() ? "" : "-" + setting.letter + ",") + "--" + setting.name;
}

}  // namespace

void PlanOptions::declare(Command command, std::string_view group) {
  for (const PlanSetting& setting : plan_settings()) {
    if (setting.group != group) continue;
    Given& given = given_.emplace_back(Given{&setting, Option(nullptr)});
    const std::string names = names_of(setting);
    switch (setting.kind) {
      case SettingKind::flag:
        given.option = command.add_flag(names, given.flag, setting.help);
        break;
      case SettingKind::value:
        given.word = setting.shown;
        given.option = command.add_option(names, given.word, setting.help)->takes(setting.takes);
        if (!setting.shown.empty()) given.option->capture_default_str();
        break;
      case SettingKind::list:
      case SettingKind::repeated:
        given.option =
            command.add_option(names, given.words, setting.help)->takes(setting.takes)->allow_extra_args(false);
        if (setting.kind == SettingKind::list) given.option->delimiter(',');
        break;
      case SettingKind::words:
        given.option = command.add_option(names, given.words, setting.help);
        break;
    }
    given.option->group(setting.group);
    const auto of = [&](const std::string& name) {
      return std::ranges::find_if(given_, [&](const Given& other) { return other.setting->name == name; })->option;
    };
    for (const std::string& other : setting.excludes) given.option->excludes(of(other));
    if (!setting.needs.empty()) given.option->needs(of(setting.needs));
  }
}

std::optional<ValueBefore> PlanOptions::value_before(const std::string& name, const Command& command) const {
  const auto found = std::ranges::find_if(given_, [&](const Given& given) { return given.setting->name == name; });
  return found == given_.end() ? std::nullopt : command.value_before(found->option);
}

std::optional<Error> PlanOptions::apply_to(Plan& plan) const {
  for (const Given& given : given_) {
    if (given.option.count() == 0 || (given.setting->kind == SettingKind::flag && !given.flag)) continue;
    if (auto problem =
            given.setting->set(plan, given.setting->kind == SettingKind::value ? std::vector{given.word} : given.words))
      return problem;
  }
  return std::nullopt;
}

}  // namespace parshall::cli
