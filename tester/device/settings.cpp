// SPDX-License-Identifier: Apache-2.0
#include "tester/device/settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace parshall::tester {

Result<std::vector<Setting>> parse_settings(std::string_view scenario, std::string_view text,
                                            std::span<const std::string_view> names) {
  std::vector<Setting> settings;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string_view item = text.substr(at, end - at), name = item.substr(0, item.find('='));
    const bool has_value = name.size() + 1 < item.size();
    if (!has_value || std::ranges::find(names, name) == names.end())
      return Error{fmt::format("{}: \"{}\": give NAME=VALUE, separated by commas, of {}", scenario, item,
                               fmt::join(names, ", "))};
    if (std::ranges::find(settings, name, &Setting::name) != settings.end())
      return Error{fmt::format("{}: {} is given twice", scenario, name)};
    settings.push_back({.name = std::string(name), .value = std::string(item.substr(name.size() + 1))});
    at = end + 1;
  }
  return settings;
}

}  // namespace parshall::tester
