// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/choices.hpp"
#include "parshall/plan.hpp"

namespace parshall {

/// Pairs a value with the name that users know it by.
template <class T>
struct Named {
  const char* name;
  T value;
};

inline constexpr Named<KeyFields> kKeyNames[] = {{"5tuple", KeyFields::five_tuple},
                                                 {"src-dst", KeyFields::src_dst},
                                                 {"src", KeyFields::src},
                                                 {"dst", KeyFields::dst}};
inline constexpr Named<Identity> kIdentityNames[] = {
    {"exact", Identity::exact}, {"fingerprint", Identity::fingerprint}, {"nic-hash", Identity::nic_hash}};
inline constexpr Named<Scheduler> kSchedulerNames[] = {
    {"other", Scheduler::other}, {"fifo", Scheduler::fifo}, {"deadline", Scheduler::deadline}};
inline constexpr Named<QuantileMethod> kQuantileNames[] = {{"histogram", QuantileMethod::histogram},
                                                           {"p2", QuantileMethod::p2}};

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
