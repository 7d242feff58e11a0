// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/suggestion.hpp"

namespace parshall {

/// Option of a kind of output.
template <class Target>
struct TargetOption {
  std::string_view name, help;
  bool (*take)(const std::string& value, Target& target);  ///< sets it; returns false if the value is invalid
};

/// Sets the exporter's name.
template <class Target>
bool take_probe(const std::string& value, Target& target) {
  constexpr std::size_t kMostBytes = 255;
  target.probe = value;
  return !value.empty() && value.size() <= kMostBytes;
}

/// Returns where options begin in "PLACE,NAME=VALUE,...". For a path, that is the first comma followed by a name and =,
/// since a path may contain commas. For a place with "://" it is the first comma.
inline std::size_t options_begin(std::string_view text) {
  const bool is_path = text.find("://") == text.npos;
  for (std::size_t comma = text.find(','); comma != text.npos; comma = text.find(',', comma + 1)) {
    const std::size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", comma + 1);
    if (!is_path || (end != text.npos && end > comma + 1 && text[end] == '=')) return comma;
  }
  return text.size();
}

/// Sets the options of "PLACE,NAME=VALUE,..." in `target`, and returns the place. Fails on an unknown option or an
/// invalid value.
template <class Target>
Result<std::string> take_options(const std::string& text, std::span<const TargetOption<Target>> options,
                                 Target& target) {
  std::size_t end = options_begin(text);
  std::string place = text.substr(0, end);
  while (end < text.size()) {
    const std::size_t begin = end + 1;
    end = std::min(text.find(',', begin), text.size());
    const std::string option = text.substr(begin, end - begin);
    const std::size_t equals = option.find('=');
    const auto known =
        std::ranges::find(options, std::string_view(option).substr(0, equals), &TargetOption<Target>::name);
    if (known == options.end())
      return Error{fmt::format("there is no option \"{}\"{}", option.substr(0, equals),
                               suggestion(option.substr(0, equals), options, &TargetOption<Target>::name,
                                          "docs/exports.md, docs/alarms.md"))};
    if (equals == option.npos || !known->take(option.substr(equals + 1), target))
      return Error{fmt::format("{}: {}", option, known->help)};
  }
  return place;
}

}  // namespace parshall
