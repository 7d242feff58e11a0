// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/toml_text.hpp"
#include "parshall/plan_settings.hpp"
#include "parshall/wiring.hpp"
#include "pipeline/output/files/configuration_file.hpp"
#include "targets.hpp"

namespace parshall::fuzz {
namespace {

constexpr const char* kName = "fuzz.toml";

/// An error says in which file; in which line, where it is one of the file's own.
void check_error(const Error& error, std::string_view text) {
  require(error.message.starts_with(kName));
  constexpr std::string_view kLine = "fuzz.toml, line ";
  if (!error.message.starts_with(kLine)) return;
  const auto line = std::strtoull(error.message.c_str() + kLine.size(), nullptr, 10);
  require(line >= 1 && line <= 1 + static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')));
}

/// What is checked of all settings together; without what it would read from files, or ask a resolver.
void check_wiring(Plan plan) {
  constexpr std::uint64_t kMostTaskKeys = 1 << 14;
  plan.flows.model.clear();
  plan.tasks.states.clear();
  plan.source.filter.clear();
  plan.source.forward.clear();
  plan.outputs.clear();
  plan.tasks.keys = std::min(plan.tasks.keys, kMostTaskKeys);
  const auto wiring = wire(plan);
  if (!wiring) return require(!wiring.error().message.empty());
  require(wiring->session.workers >= 1 && wiring->schema.columns().size() >= kBaseColumns);
}

void check_text(std::string_view text) {
  const auto plan = plan_of_toml(text, kName);
  const auto file = parse_configuration(text, kName);
  if (!file) check_error(file.error(), text);
  require(!plan || file);
  if (file) require(!change_problem(*file, *file, kName));
  if (!plan) return check_error(plan.error(), text);
  require(plan->outputs.size() >= file->exports.size());
  auto outputs = plan->outputs;
  // Saying it twice says the same, but for outputs, of which there are more then.
  auto again = plan_of_toml(text, kName, *plan);
  require(again.has_value());
  again->outputs = outputs;
  require(*again == *plan);
  check_wiring(*plan);
}

/// A word means the same in a file and on the command line.
void check_setting(const PlanSetting& setting, const std::string& word) {
  Plan direct;
  const auto wrong = setting.kind == SettingKind::flag ? setting.set(direct, {}) : setting.set(direct, {word});
  if (wrong) require(!wrong->message.empty());
  if (!setting.needs.empty()) return;
  const std::string text =
      fmt::format("{} = {}\n", setting.name, setting.kind == SettingKind::flag ? "true" : parshall::toml_string(word));
  const auto plan = plan_of_toml(text, kName);
  if (!plan) check_error(plan.error(), text);
  if (plan) require(!wrong && *plan == direct);  // TOML is UTF-8, so that it may refuse more
}

}  // namespace

/// Input: which setting, and its word; from 200 on: a configuration.
void fuzz_plan(Bytes input) {
  Input in(input);
  const auto settings = plan_settings();
  const std::uint8_t which = in.byte();
  if (which >= 200) return check_text(text_of(in.rest()));
  check_setting(settings[which % settings.size()], in.text());
}

}  // namespace parshall::fuzz
