// SPDX-License-Identifier: Apache-2.0
#include "base/suggestion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <span>

namespace parshall {
namespace {

constexpr std::size_t kMostShown = 5, kMostTypos = 2, kLettersPerTypo = 3, kLongestWord = 64;

/// Returns how many letters to insert, delete, replace or swap with the next lead from one word to the other.
/// Source: L. Boytsov, "Indexing methods for approximate dictionary searching", 2011: optimal string alignment.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> steps(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        steps[i][j] = i + j;
        continue;
      }
      steps[i][j] = std::min({steps[i - 1][j] + 1, steps[i][j - 1] + 1, steps[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) steps[i][j] = std::min(steps[i][j], steps[i - 2][j - 2] + 1);
    }
  }
  return steps[a.size()][b.size()];
}

std::string lower(std::string_view text) {
  std::string small(text);
  std::ranges::transform(small, small.begin(), [](unsigned char c) { return std::tolower(c); });
  return small;
}

/// Returns true if a word leaves out letters of the name, behind the first three: "stats" of "statistics".
bool is_short_for(std::string_view word, std::string_view name) {
  if (!name.starts_with(word.substr(0, kLettersPerTypo))) return false;
  std::size_t at = 0;
  for (const char c : name) at += at < word.size() && word[at] == c;
  return at == word.size();
}

}  // namespace

std::string nearest_name(std::string_view typed, const std::vector<std::string>& names) {
  if (typed.size() < 2 || typed.size() > kLongestWord) return {};
  const std::string word = lower(typed);
  std::string nearest;
  std::size_t best = std::clamp<std::size_t>(word.size() / kLettersPerTypo, 1, kMostTypos) + 1;
  for (const std::string& name : names) {
    const std::size_t distance = edit_distance(word, lower(name));
    if (distance >= best) continue;
    best = distance;
    nearest = name;
  }
  if (!nearest.empty() || word.size() < kLettersPerTypo) return nearest;
  auto longer = std::ranges::find_if(names, [&](const std::string& name) { return name.starts_with(word); });
  if (longer == names.end())
    longer = std::ranges::find_if(names, [&](const std::string& name) { return is_short_for(word, name); });
  return longer == names.end() ? std::string() : *longer;
}

std::string suggestion(std::string_view word, const std::vector<std::string>& names, std::string_view where) {
  if (names.empty()) return {};
  const std::string nearest = nearest_name(word, names);
  const std::span shown(names.data(), std::min(names.size(), kMostShown));
  return fmt::format("; {} {} {}{}{}", nearest.empty() ? "there" : fmt::format("did you mean {}? There", nearest),
                     names.size() == 1 ? "is" : "are", fmt::join(shown, ", "),
                     shown.size() < names.size() ? ", ..." : "", where.empty() ? "" : fmt::format(" ({})", where));
}

}  // namespace parshall
