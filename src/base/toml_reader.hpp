// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/parse_toml.hpp"
#include "base/result.hpp"
#include "base/suggestion.hpp"

namespace parshall {

/// Base of readers of TOML files. It records what is wrong and where; only the first complaint is kept.
class TomlReader {
 protected:
  /// `name` is the file's name in errors.
  explicit TomlReader(const std::string& name) : name_(name) {}

  std::string place_of(const toml::source_region& region) const { return place_in(name_, region.begin); }

  void complain(const toml::source_region& at, const std::string& problem) {
    if (!problem_) problem_ = Error{fmt::format("{}: {}", place_of(at), problem)};
  }
  void complain(const toml::node& at, const std::string& problem) { complain(at.source(), problem); }
  const std::optional<Error>& problem() const noexcept { return problem_; }

  template <std::size_t N>
  void check_keys(const toml::table& table, const std::string_view (&known)[N]) {
    for (const auto& [key, value] : table)
      if (std::ranges::find(known, key.str()) == std::end(known))
        complain(key.source(),
                 fmt::format("{} is unknown here{}", key.str(), suggestion(key.str(), known, std::identity{})));
  }

  /// Calls read(table) for each [[name]], of which there may be none.
  template <class Read>
  void each(const toml::table& file, std::string_view name, Read read) {
    const toml::node* const node = file.get(name);
    if (node == nullptr) return;
    if (!node->is_array_of_tables()) return complain(*node, fmt::format("write [[{}]] for each {}", name, name));
    for (const toml::node& table : *node->as_array()) read(*table.as_table());
  }

  /// Returns the texts of a list; none if the list is missing.
  std::vector<std::string> texts(const toml::table& table, std::string_view name) {
    std::vector<std::string> texts;
    const toml::node* const node = table.get(name);
    if (node == nullptr) return texts;
    if (!node->is_array()) return complain(*node, fmt::format("{} must be a list: [\"...\", \"...\"]", name)), texts;
    for (const toml::node& entry : *node->as_array()) {
      if (const auto* const value = entry.as_string())
        texts.push_back(**value);
      else
        complain(entry, fmt::format("{} must be a list of texts in quotes", name));
    }
    return texts;
  }

 private:
  const std::string& name_;
  std::optional<Error> problem_;
};

}  // namespace parshall
