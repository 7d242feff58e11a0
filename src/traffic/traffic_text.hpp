// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace parshall {

/// Splits the settings of built-in traffic, as in -g.
inline std::vector<std::string_view> items_of_traffic(std::string_view text) {
  std::vector<std::string_view> items;
  while (!text.empty()) {
    items.push_back(text.substr(0, text.find(',')));
    text.remove_prefix(std::min(text.size(), items.back().size() + 1));
  }
  return items;
}

/// Returns the settings of `base` that `changes` does not replace, followed by `changes`.
inline std::string changed_traffic(std::string_view base, std::string_view changes) {
  const auto name_of = [](std::string_view item) { return item.substr(0, item.find('=')); };
  const std::vector<std::string_view> changed = items_of_traffic(changes);
  std::string text;
  for (const std::string_view item : items_of_traffic(base))
    if (std::ranges::find(changed, name_of(item), name_of) == changed.end())
      text.append(text.empty() ? "" : ",").append(item);
  return text.append(text.empty() || changed.empty() ? "" : ",").append(changes);
}

}  // namespace parshall
