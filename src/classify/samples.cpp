// SPDX-License-Identifier: Apache-2.0
#include "classify/samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace parshall {

std::size_t number_of(std::vector<std::string>& names, std::string_view name, std::size_t last) {
  if (last < names.size() && names[last] == name) return last;
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  names.emplace_back(name);
  return names.size() - 1;
}

std::optional<Error> class_name_problem(std::string_view name) {
  constexpr std::string_view kRefused = "\"',\\\x7f", kTaken[] = {"unknown", "too few packets"};
  std::string shown;
  for (const char c : name) shown += static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? '?' : c;
  if (std::ranges::find(kTaken, name) != std::end(kTaken))
    return Error{fmt::format("a class cannot have the name \"{}\": reports use it for flows without a class", shown)};
  // Excludes C0 in any text, and C1 in UTF-8, which terminals also obey.
  bool is_printable = std::ranges::none_of(name, [](char c) { return static_cast<unsigned char>(c) < ' '; });
  for (std::size_t i = 0; i + 1 < name.size(); ++i)
    is_printable &= name[i] != '\xc2' || static_cast<unsigned char>(name[i + 1]) >= 0xa0;
  if (!name.empty() && name.size() <= kMostClassNameBytes && is_printable &&
      name.find_first_of(kRefused) == std::string_view::npos)
    return std::nullopt;
  return Error{
      fmt::format("\"{}\" cannot be the name of a class: give 1 to {} bytes without quotes, commas, backslashes and "
                  "control characters",
                  shown.substr(0, kMostClassNameBytes), kMostClassNameBytes)};
}

std::vector<std::uint64_t> Samples::flows_by_class() const {
  std::vector<std::uint64_t> flows(class_names.size());
  for (const ClassId id : classes) ++flows[id];
  return flows;
}

void Samples::add(std::span<const std::uint16_t> first_sizes, std::string_view class_name,
                  std::string_view capture_name) {
  const std::size_t last_class = classes.empty() ? 0 : classes.back();
  const std::size_t last_capture = captures.empty() ? 0 : captures.back();
  sizes.insert(sizes.end(), first_sizes.begin(), first_sizes.end());
  classes.push_back(static_cast<ClassId>(number_of(class_names, class_name, last_class)));
  captures.push_back(static_cast<std::uint32_t>(number_of(capture_names, capture_name, last_capture)));
}

void Samples::cap(std::uint16_t longest) noexcept {
  for (std::uint16_t& size : sizes) size = std::min(size, longest);
}

Samples Samples::where(const std::vector<bool>& chosen) const {
  Samples part{.packets = packets, .class_names = class_names, .capture_names = capture_names};
  for (std::size_t flow = 0; flow < size(); ++flow) {
    if (!chosen[flow]) continue;
    const auto first_sizes = sizes_of(flow);
    part.sizes.insert(part.sizes.end(), first_sizes.begin(), first_sizes.end());
    part.classes.push_back(classes[flow]);
    part.captures.push_back(captures[flow]);
  }
  return part;
}

}  // namespace parshall
