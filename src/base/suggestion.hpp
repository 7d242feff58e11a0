// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <concepts>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace parshall {

/// Returns the name that a mistyped `word` was most likely meant to be: the one that takes the fewest letters to
/// insert, delete, replace or swap, else the first that begins with `word`, else the first that it is short for.
/// Capitals do not count. Empty where none is near.
std::string nearest_name(std::string_view word, const std::vector<std::string>& names);

/// Returns the end of an error about an unknown name: "; did you mean A? There are A, B, C, D, E, ... (WHERE)". Shows
/// at most five of `names`. `where` says where all of them are listed, such as "parshall list columns", and may be
/// empty.
std::string suggestion(std::string_view word, const std::vector<std::string>& names, std::string_view where = "");

/// Does the same for a registry whose entries are called `name(entry)`.
template <class Registry, class Name>
requires(!std::convertible_to<Name, std::string_view>) std::string
    suggestion(std::string_view word, const Registry& registry, Name name, std::string_view where = "") {
  std::vector<std::string> names;
  for (const auto& entry : registry) names.emplace_back(std::invoke(name, entry));
  return suggestion(word, names, where);
}

}  // namespace parshall
