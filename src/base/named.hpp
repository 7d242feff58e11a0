// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace parshall {

/// Pairs a value with the name that users know it by.
template <class T>
struct Named {
  const char* name;
  T value;
};

template <class T, std::size_t N>
std::vector<std::string> names_in(const Named<T> (&table)[N]) {
  std::vector<std::string> names;
  for (const Named<T>& entry : table) names.emplace_back(entry.name);
  return names;
}

template <class T, std::size_t N>
std::optional<T> value_of(const Named<T> (&table)[N], std::string_view name) {
  const auto found = std::ranges::find_if(table, [&](const Named<T>& entry) { return entry.name == name; });
  return found == std::end(table) ? std::nullopt : std::optional(found->value);
}

template <class T, std::size_t N>
std::string name_of(const Named<T> (&table)[N], T value) {
  return std::ranges::find(table, value, &Named<T>::value)->name;
}

}  // namespace parshall
