// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/parse.hpp"
#include "base/result.hpp"
#include "base/suggestion.hpp"
#include "parshall/names.hpp"
#include "parshall/plan.hpp"
#include "parshall/plan_settings.hpp"

namespace parshall {

/// Builds a table of settings. Each setting stores its words in the member that `get` returns.
class Settings {
 public:
  using Words = std::vector<std::string>;
  using Outcome = std::optional<Error>;

  explicit Settings(std::string group) : group_(std::move(group)) {}

  template <class Get>
  PlanSetting& text(std::string name, std::string help, Get get) {
    return add(std::move(name), SettingKind::value, "TEXT", std::move(help), get(kDefaults),
               [get](Plan& plan, const Words& words) -> Outcome {
                 get(plan) = words.back();
                 return std::nullopt;
               });
  }

  template <class Get>
  PlanSetting& texts(std::string name, SettingKind kind, std::string help, Get get) {
    return add(std::move(name), kind, "TEXT", std::move(help), "", [get](Plan& plan, const Words& words) -> Outcome {
      get(plan) = words;
      return std::nullopt;
    });
  }

  template <class Get>
  PlanSetting& flag(std::string name, std::string help, Get set) {
    return add(std::move(name), SettingKind::flag, "", std::move(help), "", [set](Plan& plan, const Words&) -> Outcome {
      set(plan);
      return std::nullopt;
    });
  }

  template <class Get>
  PlanSetting& duration(std::string name, std::string help, Get get) {
    return add(name, SettingKind::value, "TIME", std::move(help), "",
               [name, get](Plan& plan, const Words& words) -> Outcome {
                 const auto value = parse_duration_ns(words.back());
                 if (!value)
                   return Error{fmt::format("--{} {}: give a time such as 500ms, 10s, 2m or 1h", name, words.back())};
                 get(plan) = *value;
                 return std::nullopt;
               });
  }

  /// Adds a setting for a whole number from `least` to `most`.
  template <class Get>
  PlanSetting& count(std::string name, std::string help, Get get, std::uint64_t least, std::uint64_t most,
                     std::string shown = "") {
    return add(name, SettingKind::value, "COUNT", std::move(help), std::move(shown),
               [name, get, least, most](Plan& plan, const Words& words) -> Outcome {
                 const auto value = parse_count(words.back());
                 if (!value || *value < least || *value > most)
                   return Error{fmt::format("--{} {}: {}", name, words.back(), range_text(least, most))};
                 get(plan) = static_cast<std::remove_cvref_t<decltype(get(plan))>>(*value);
                 return std::nullopt;
               });
  }

  template <class Get>
  PlanSetting& real(std::string name, std::string help, Get get, double least, double most) {
    return add(name, SettingKind::value, "NUMBER", std::move(help), fmt::format("{}", get(kDefaults)),
               [name, get, least, most](Plan& plan, const Words& words) -> Outcome {
                 const std::string& text = words.back();
                 double value = 0;
                 const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
                 if (problem != std::errc() || end != text.data() + text.size() || !(value >= least && value <= most))
                   return Error{fmt::format("--{} {}: give a number from {} to {}", name, text, least, most)};
                 get(plan) = value;
                 return std::nullopt;
               });
  }

  /// Adds a setting for one of these names, stored as its value.
  template <class T, std::size_t N, class Get>
  PlanSetting& choice(std::string name, std::string help, const Named<T> (&table)[N], Get get) {
    return add(name, SettingKind::value, fmt::format("{{{}}}", fmt::join(names_in(table), ",")), std::move(help),
               name_of(table, get(kDefaults)), [name, get, &table](Plan& plan, const Words& words) -> Outcome {
                 const auto value = value_of(table, words.back());
                 if (!value) return not_among(name, words.back(), names_in(table));
                 get(plan) = *value;
                 return std::nullopt;
               });
  }

  /// Adds a setting for one of these names, stored as text.
  template <class Get>
  PlanSetting& name(std::string name, std::string help, const Words& names, Get get) {
    return add(name, SettingKind::value, fmt::format("{{{}}}", fmt::join(names, ",")), std::move(help), get(kDefaults),
               [name, names, get](Plan& plan, const Words& words) -> Outcome {
                 if (std::ranges::find(names, words.back()) == names.end()) return not_among(name, words.back(), names);
                 get(plan) = words.back();
                 return std::nullopt;
               });
  }

  PlanSetting& add(std::string name, SettingKind kind, std::string takes, std::string help, std::string shown,
                   std::function<Outcome(Plan&, const Words&)> set) {
    return all_.emplace_back(PlanSetting{.name = std::move(name),
                                         .letter = "",
                                         .kind = kind,
                                         .group = group_,
                                         .takes = std::move(takes),
                                         .help = std::move(help),
                                         .shown = std::move(shown),
                                         .set = std::move(set)});
  }

  void move_to(std::vector<PlanSetting>& to) { std::ranges::move(all_, std::back_inserter(to)); }

 private:
  /// Says what a count can be; a bound that nobody reaches is left out.
  static std::string range_text(std::uint64_t least, std::uint64_t most) {
    constexpr std::uint64_t kReachable = std::uint64_t{1} << 32;
    if (most > kReachable)
      return fmt::format("give a whole number, such as {}, 64Ki or 1M", std::max<std::uint64_t>(least, 1000));
    return fmt::format("give a number from {} to {}", least, most);
  }

  static Error not_among(const std::string& name, const std::string& word, const Words& names) {
    return Error{fmt::format("--{}: there is no {}{}", name, word, suggestion(word, names))};
  }

  static inline const Plan kDefaults{};
  std::string group_;
  std::vector<PlanSetting> all_;
};

}  // namespace parshall
