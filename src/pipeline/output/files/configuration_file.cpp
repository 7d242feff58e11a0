// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/files/configuration_file.hpp"

#include <algorithm>

#include "base/parse_toml.hpp"
#include "base/suggestion.hpp"
#include "base/toml_reader.hpp"
#include "pipeline/output/exporters.hpp"

namespace parshall {
namespace {

using Type = ConfiguredSetting::Type;

struct Word {
  Type type;
  std::string text;
};

/// Returns nullopt for a date, a time, a list or a table.
std::optional<Word> word_of(const toml::node& node) {
  if (const auto* const text = node.as_string()) return Word{Type::text, **text};
  if (const auto* const number = node.as_integer()) return Word{Type::integer, std::to_string(**number)};
  if (const auto* const number = node.as_floating_point()) return Word{Type::real, fmt::format("{}", **number)};
  if (const auto* const truth = node.as_boolean()) return Word{Type::boolean, **truth ? "true" : "false"};
  return std::nullopt;
}

class Reader final : TomlReader {
 public:
  explicit Reader(const std::string& name) : TomlReader(name) {}

  Result<ConfigurationFile> read(const toml::table& file) {
    ConfigurationFile configuration;
    for (const auto& [key, value] : file)
      if (key.str() != kExport) configuration.settings.push_back(setting_of(key, value));
    each(file, kExport, [&](const toml::table& table) {
      configuration.exports.push_back({.word = export_word(table), .place = place_of(table.source())});
    });
    if (problem()) return *problem();
    return configuration;
  }

 private:
  static constexpr std::string_view kExport = "export";

  ConfiguredSetting setting_of(const toml::key& key, const toml::node& value) {
    ConfiguredSetting setting{.name = std::string(key.str()), .type = Type::text, .place = place_of(value.source())};
    if (value.is_table() || value.is_array_of_tables()) {
      complain(key.source(), fmt::format("{} is a table, and there are none but [[export]]: {}", setting.name,
                                         nearest_name(setting.name, {std::string(kExport)}).empty()
                                             ? fmt::format("leave [{}] out", setting.name)
                                             : "write [[export]]"));
      return setting;
    }
    const auto take = [&](const toml::node& node) {
      auto word = word_of(node);
      if (!word || (!setting.words.empty() && word->type != setting.type))
        return complain(node, fmt::format("{} is a text in quotes, a number, true or false, or a list of one of these",
                                          setting.name));
      setting.type = word->type;
      setting.words.push_back(std::move(word->text));
    };
    setting.is_list = value.is_array();
    if (!setting.is_list)
      take(value);
    else
      for (const toml::node& entry : *value.as_array()) take(entry);
    if (setting.is_list && setting.words.empty()) complain(value, fmt::format("{} is an empty list", setting.name));
    return setting;
  }

  /// Returns the key that is most likely to be this one.
  static std::string misspelt(const toml::table& table, std::string_view name) {
    for (const auto& [key, value] : table)
      if (!nearest_name(key.str(), {std::string(name)}).empty()) return fmt::format(", and not {}", key.str());
    return {};
  }

  std::string text_of(const toml::table& table, std::string_view name) {
    const toml::node* const node = table.get(name);
    if (node == nullptr || !node->is_string() || (**node->as_string()).empty()) {
      complain(node == nullptr ? static_cast<const toml::node&>(table) : *node,
               fmt::format("[[export]] takes a {} in quotes{}", name, node == nullptr ? misspelt(table, name) : ""));
      return {};
    }
    return **node->as_string();
  }

  std::string export_word(const toml::table& table) {
    const std::string kind = text_of(table, "kind");
    const ExporterEntry* const entry = find_exporter(kind);
    const bool is_file = entry != nullptr && entry->open == nullptr;
    std::string text = kind + ":" + text_of(table, "target");
    for (const auto& [key, value] : table) {
      if (key.str() == "kind" || key.str() == "target") continue;
      const auto word = word_of(value);
      if (is_file)
        complain(key.source(), fmt::format("{} takes kind and target alone, not {}", kind, key.str()));
      else if (!word)
        complain(value, fmt::format("{} is a text in quotes, a number, true or false", key.str()));
      else
        text += fmt::format(",{}={}", key.str(),
                            word->type != Type::boolean ? word->text
                            : word->text == "true"      ? "yes"
                                                        : "no");
    }
    return text;
  }
};

/// Returns the TOML type that a word of the help stands for, or an empty text if the value has that type.
std::string_view wanted(Type type, std::string_view takes) {
  const bool is_number = type == Type::integer || type == Type::real;
  if (takes == "NUMBER") return is_number ? "" : "a number";
  if (takes == "TIME") return is_number || type == Type::text ? "" : "a time, such as \"10s\"";
  if (takes == "COUNT") return type == Type::integer || type == Type::text ? "" : "a whole number, or one as \"64Ki\"";
  if (takes == "INT" || takes == "UINT") return type == Type::integer ? "" : "a whole number";
  return type == Type::text ? "" : "a text in quotes";
}

}  // namespace

Result<ConfigurationFile> parse_configuration(std::string_view text, const std::string& name) {
  const auto file = parse_toml(text, name);
  return file ? Reader(name).read(*file) : file.error();
}

std::optional<Error> type_problem(const ConfiguredSetting& setting, std::string_view takes, bool takes_list) {
  const auto wrong = [&](std::string_view what) {
    return Error{fmt::format("{}: {} takes {}", setting.place, setting.name, what)};
  };
  if (takes.empty())
    return setting.type == Type::boolean && !setting.is_list ? std::nullopt : std::optional(wrong("true or false"));
  if (const auto what = wanted(setting.type, takes); !what.empty()) return wrong(what);
  return setting.is_list && !takes_list ? std::optional(wrong("one value, and no list")) : std::nullopt;
}

std::optional<Error> change_problem(const ConfigurationFile& before, const ConfigurationFile& now,
                                    const std::string& name) {
  constexpr std::string_view kOnly = "only [[export]] tables may change while a run goes on";
  const auto in = [](const ConfigurationFile& file, const ConfiguredSetting& setting) {
    return std::ranges::find(file.settings, setting.name, &ConfiguredSetting::name);
  };
  for (const ConfiguredSetting& setting : now.settings) {
    const auto was = in(before, setting);
    if (was == before.settings.end() || was->words != setting.words || was->type != setting.type ||
        was->is_list != setting.is_list)
      return Error{fmt::format("{}: {}; {} needs a restart of parshall", setting.place, kOnly, setting.name)};
  }
  for (const ConfiguredSetting& setting : before.settings)
    if (in(now, setting) == now.settings.end())
      return Error{fmt::format("{}: {}; {} is not there any more", name, kOnly, setting.name)};
  return std::nullopt;
}

}  // namespace parshall
