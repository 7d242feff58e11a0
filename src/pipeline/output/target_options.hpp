// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace parshall {

/// An option of a kind of output.
template <class Target>
struct TargetOption {
  std::string_view name, help;
  bool (*take)(const std::string& value, Target& target);  ///< whether it is a value of it
};

/// A name for who exports.
template <class Target>
bool take_probe(const std::string& value, Target& target) {
  constexpr std::size_t kMostBytes = 255;
  target.probe = value;
  return !value.empty() && value.size() <= kMostBytes;
}

/// Splits "PLACE,NAME=VALUE,..." and hands the values to `target`; returns the place.
///
/// A place that is a path may have commas: options begin with the first ",NAME=" of one of them. Of a place with "://"
/// they begin with the first comma. Fails on what is no option, or no value of it.
template <class Target>
Result<std::string> take_options(const std::string& text, std::span<const TargetOption<Target>> options,
                                 Target& target) {
  std::size_t end = text.size();
  for (const auto& option : options) end = std::min(end, text.find(fmt::format(",{}=", option.name)));
  if (text.find("://") != text.npos) end = std::min(end, text.find(','));
  std::string place = text.substr(0, end);
  while (end < text.size()) {
    const std::size_t begin = end + 1;
    end = std::min(text.find(',', begin), text.size());
    const std::string option = text.substr(begin, end - begin);
    const std::size_t equals = option.find('=');
    const auto known =
        std::ranges::find(options, std::string_view(option).substr(0, equals), &TargetOption<Target>::name);
    if (known == options.end()) {
      std::string names;
      for (const auto& each : options) names += (names.empty() ? "" : ", ") + std::string(each.name);
      return Error{fmt::format("there is no option \"{}\"; there are {}", option.substr(0, equals), names)};
    }
    if (equals == option.npos || !known->take(option.substr(equals + 1), target))
      return Error{fmt::format("{}: {}", option, known->help)};
  }
  return place;
}

}  // namespace parshall
