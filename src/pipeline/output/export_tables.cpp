// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/export_tables.hpp"

#include <algorithm>

#include "base/parse_toml.hpp"
#include "base/text_file.hpp"
#include "base/toml_reader.hpp"
#include "pipeline/output/exporters.hpp"

namespace parshall {
namespace {

class ExportTables final : TomlReader {
 public:
  explicit ExportTables(const std::string& name) : TomlReader(name) {}

  Result<std::vector<std::string>> read(const toml::table& file) {
    std::vector<std::string> words;
    each(file, "export", [&](const toml::table& table) { words.push_back(word_of(table)); });
    if (problem()) return *problem();
    return words;
  }

 private:
  std::string text_of(const toml::table& table, std::string_view name) {
    const toml::node* const node = table.get(name);
    if (node == nullptr || !node->is_string() || (**node->as_string()).empty()) {
      complain(node == nullptr ? static_cast<const toml::node&>(table) : *node,
               fmt::format("[[export]] takes a {} in quotes", name));
      return {};
    }
    return **node->as_string();
  }

  std::string word_of(const toml::table& table) {
    const std::string kind = text_of(table, "kind");
    const ExporterEntry* const entry = find_exporter(kind);
    const bool is_file = entry != nullptr && entry->open == nullptr;
    std::string word = kind + ":" + text_of(table, "target");
    for (const auto& [key, value] : table) {
      if (key.str() == "kind" || key.str() == "target") continue;
      if (is_file)
        complain(value, fmt::format("{} takes kind and target alone, not {}", kind, key.str()));
      else if (const auto* const text = value.as_string())
        word += fmt::format(",{}={}", key.str(), **text);
      else if (const auto* const number = value.as_integer())
        word += fmt::format(",{}={}", key.str(), **number);
      else if (const auto* const real = value.as_floating_point())
        word += fmt::format(",{}={}", key.str(), **real);
      else if (const auto* const truth = value.as_boolean())
        word += fmt::format(",{}={}", key.str(), **truth ? "yes" : "no");
      else
        complain(value, fmt::format("{} is a text in quotes, a number, true or false", key.str()));
    }
    return word;
  }
};

std::string_view trimmed(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t\r");
  return begin == line.npos ? std::string_view() : line.substr(begin);
}

/// A line that is neither empty nor a comment.
struct Setting {
  std::size_t line;  ///< from 1 on
  std::string_view text;
};

std::vector<Setting> settings_in(std::string_view text) {
  std::vector<Setting> settings;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view one = trimmed(text.substr(0, end));
    if (!one.empty() && !one.starts_with('#'))
      settings.push_back({line, one.substr(0, one.find_last_not_of(" \t\r") + 1)});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return settings;
}

}  // namespace

/// The rest may be laxer than TOML: only the tables are read as such. In it their lines are empty, and in them its.
Result<SplitConfiguration> split_exports(std::string_view text, const std::string& name) {
  constexpr std::string_view kMark = "\xEF\xBB\xBF";  // of byte order, as some editors write it
  if (text.starts_with(kMark)) text.remove_prefix(kMark.size());
  SplitConfiguration split;
  std::string tables;
  bool in_table = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    if (trimmed(line).starts_with('[')) in_table = trimmed(line).starts_with("[[export]]");
    (in_table ? tables : split.rest) += line;
    tables += '\n';
    split.rest += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (auto problem = deep_key_problem(split.rest, name)) return *std::move(problem);
  const auto parsed = parse_toml(tables, name);
  if (!parsed) return parsed.error();
  auto words = ExportTables(name).read(*parsed);
  if (!words) return words.error();
  split.exports = *std::move(words);
  return split;
}

Result<std::vector<std::string>> read_exports(const std::string& path, std::string_view rest) {
  const auto text = read_text_file(path);
  if (!text) return Error{"cannot read " + text.error().message};
  auto split = split_exports(*text, path);
  if (!split) return split.error();
  const auto before = settings_in(rest), now = settings_in(split->rest);
  const auto [was, is] = std::ranges::mismatch(before, now, {}, &Setting::text, &Setting::text);
  if (is != now.end())
    return Error{
        fmt::format("{}, line {}: only [[export]] tables may change while a run goes on; \"{}\" takes a new start",
                    path, is->line, is->text)};
  if (was != before.end())
    return Error{fmt::format("{}: only [[export]] tables may change while a run goes on; \"{}\" is not there any more",
                             path, was->text)};
  return std::move(split->exports);
}

}  // namespace parshall
