// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/tasks/arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/parse.hpp"
#include "base/suggestion.hpp"
#include "pipeline/measure/tasks/aggregate.hpp"

namespace parshall {
namespace {

std::optional<double> number_of(std::string_view text) {
  double value = 0;
  const auto [rest, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || rest != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace

Result<Arguments> Arguments::parse(std::string_view whose, std::string_view text,
                                   std::span<const Parameter> parameters) {
  Arguments arguments;
  arguments.whose_ = whose;
  for (const Parameter& parameter : parameters) arguments.values_.emplace(parameter.name, parameter.fallback);
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view pair = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const std::size_t equals = pair.find('=');
    const auto known = arguments.values_.find(pair.substr(0, equals));
    if (equals == std::string_view::npos || known == arguments.values_.end())
      return Error{
          fmt::format("{}: '{}' is no parameter=value{}", whose, pair,
                      suggestion(pair.substr(0, equals), parameters, &Parameter::name, "parshall list tasks"))};
    if (!arguments.given_.emplace(known->first, pair.substr(equals + 1)).second)
      return Error{fmt::format("{}: {} is given twice", whose, known->first)};
    known->second = pair.substr(equals + 1);
  }
  return arguments;
}

void Arguments::complain(std::string problem) {
  if (!problem_) problem_ = Error{fmt::format("{}: {}", whose_, problem)};
}

std::uint64_t Arguments::count(std::string_view name, std::uint64_t least, std::uint64_t most) {
  const auto value = parse_count(text(name));
  if (value && *value >= least && *value <= most) return *value;
  complain(fmt::format("{}={}: give a number from {} to {}", name, text(name), least, most));
  return least;
}

std::uint64_t Arguments::duration_ns(std::string_view name, std::uint64_t least_ns) {
  const auto value = parse_duration_ns(text(name));
  if (!value || *value < least_ns)
    complain(fmt::format("{}={}: give a time of at least {} ns, such as 500us, 1ms or 2s", name, text(name), least_ns));
  return value.value_or(0);
}

double Arguments::number(std::string_view name, double least, double most) {
  const auto value = number_of(text(name));
  if (value && *value >= least && *value <= most) return *value;
  complain(fmt::format("{}={}: give a number from {} to {}", name, text(name), least, most));
  return least;
}

Threshold Arguments::threshold(std::string_view name) {
  const std::string& typed = text(name);
  if (typed.ends_with('%')) {
    const auto percent = number_of(std::string_view(typed).substr(0, typed.size() - 1));
    if (percent && *percent > 0 && *percent <= 100) return {*percent / 100, true};
  } else if (const auto value = parse_count(typed); value && *value > 0) {
    return {static_cast<double>(*value), false};
  }
  complain(fmt::format("{}={}: give a number such as 1500 or 10M, or a share of the window such as 0.1%", name, typed));
  return {};
}

std::size_t Arguments::choice(std::string_view name, std::span<const std::string_view> choices) {
  const auto found = std::ranges::find(choices, std::string_view(text(name)));
  if (found != choices.end()) return static_cast<std::size_t>(found - choices.begin());
  complain(fmt::format("{}={}{}", name, text(name), suggestion(text(name), choices, std::identity{})));
  return 0;
}

Networks Arguments::networks(std::string_view name) {
  constexpr std::string_view kAllNetworks = "0.0.0.0/0+::/0",
                             kPrivate = "10.0.0.0/8+172.16.0.0/12+192.168.0.0/16+100.64.0.0/10+fc00::/7";
  const std::string_view typed = text(name);
  const std::string_view all = typed == "all" ? kAllNetworks : typed == "private" ? kPrivate : typed;
  std::vector<std::string> each;
  for (std::size_t begin = 0; begin <= all.size();) {
    const std::size_t end = std::min(all.find('+', begin), all.size());
    each.emplace_back(all.substr(begin, end - begin));
    begin = end + 1;
  }
  auto networks = Networks::parse(each);
  if (!networks) {
    complain(fmt::format("{}={}", name, networks.error().message));
    return {};
  }
  return *std::move(networks);
}

const Amount& Arguments::amount(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Amount& amount : kAmounts) names.push_back(amount.name);
  return kAmounts[choice(name, names)];
}

KeyPart Arguments::key(std::string_view name, KeyFields within) {
  auto part = KeyPart::parse(text(name));
  if (!part) {
    complain(part.error().message);
    return *KeyPart::parse("src");
  }
  if (!part->within(within))
    complain(fmt::format("{}={}: flows do not have it; leave out --key, or choose what they have", name, text(name)));
  return *std::move(part);
}

}  // namespace parshall
