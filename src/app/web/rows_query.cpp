// SPDX-License-Identifier: Apache-2.0
#include "app/web/rows_query.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>

#include "app/live/choice.hpp"
#include "base/parse.hpp"

namespace parshall::web {
namespace {

constexpr std::size_t kMostFilter = 256, kMostWithin = 8;

std::optional<std::uint8_t> hex_byte(std::string_view digits) {
  std::uint8_t byte = 0;
  const char* const end = digits.data() + digits.size();
  if (digits.size() != 2 || std::from_chars(digits.data(), end, byte, 16).ptr != end) return std::nullopt;
  return byte;
}

double number_of(const std::string& text) {
  const auto count = parse_count(text);
  return count ? static_cast<double>(*count) : 0;
}

/// Undoes the encoding of a form: "+" and "%20" are spaces.
std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = text[i] == '%' ? hex_byte(text.substr(i + 1, 2)) : std::nullopt;
    out += byte ? static_cast<char>(*byte) : text[i] == '+' ? ' ' : text[i];
    if (byte) i += 2;
  }
  return out;
}

/// Returns the next part of a list, and takes it away.
std::string_view next(std::string_view& list, char separator) {
  const std::size_t end = std::min(list.find(separator), list.size());
  const std::string_view part = list.substr(0, end);
  list.remove_prefix(std::min(end + 1, list.size()));
  return part;
}

const Grouping* find(const live::RowChoice& choice, std::string_view name) {
  const auto found = std::ranges::find_if(choice.all, [&](const Grouping* each) { return each->names.one == name; });
  return found == choice.all.end() ? nullptr : *found;
}

std::optional<live::Opened> opened(const live::RowChoice& choice, std::string_view name) {
  const std::string_view by = next(name, ':');
  live::Opened group{.by = find(choice, by)};
  if (group.by == nullptr || name.empty() || name.size() % 2 != 0 || name.size() / 2 > sizeof group.key)
    return std::nullopt;
  std::array<std::uint8_t, sizeof group.key> bytes{};
  for (std::size_t i = 0; i < name.size() / 2; ++i) {
    const auto byte = hex_byte(name.substr(2 * i, 2));
    if (!byte) return std::nullopt;
    bytes[i] = *byte;
  }
  std::memcpy(&group.key, bytes.data(), bytes.size());
  return group;
}

std::optional<std::size_t> column_of(std::string_view name, const Grouping* by,
                                     const std::vector<ColumnInfo>& columns) {
  const auto headings = live::key_headings(by);
  for (const std::size_t column : {live::kProtocol, live::kSource, live::kDestination})
    if (!headings[column].empty() && (name == headings[column] || (column == live::kProtocol && name == "protocol")))
      return column;
  constexpr std::string_view kFixed[] = {"pps", "bit/s", "packets", "bytes"};
  if (name == "bps") return live::kBps;
  const auto* const fixed = std::ranges::find(kFixed, name);
  if (fixed != std::end(kFixed)) return live::kPps + static_cast<std::size_t>(fixed - kFixed);
  const auto column = std::ranges::find(columns, name, &ColumnInfo::name);
  if (column == columns.end()) return std::nullopt;
  return live::kFixedColumns + static_cast<std::size_t>(column - columns.begin());
}

}  // namespace

Result<live::Arrangement> parse_rows_query(std::string_view query, const live::RowChoice& choice,
                                           const live::Rows& flows, const live::RowGroups& groups) {
  live::Arrangement wanted{.by = choice.all.empty() ? nullptr : choice.first,
                           .within = {},
                           .sort = live::kBps,
                           .filter = {},
                           .hides_idle = true};
  std::string sort = "bit/s";
  while (!query.empty()) {
    std::string_view part = next(query, '&');
    if (part.empty()) continue;
    const std::string_view name = next(part, '=');
    const std::string value = decoded(part);
    const auto wrong = [&](std::string_view why) { return Error{fmt::format("{}={}: {}", name, value, why)}; };
    if (name == "by") {
      wanted.by = find(choice, value);
      if (value == kFlows ? !choice.has_flows : wanted.by == nullptr) return wrong("this run has no such rows");
    } else if (name == "within") {
      std::string_view names = value;
      while (!names.empty()) {
        const auto group = opened(choice, next(names, ','));
        if (!group || wanted.within.size() == kMostWithin) return wrong("no names of opened rows");
        wanted.within.push_back(*group);
      }
    } else if (name == "filter") {
      if (value.size() > kMostFilter) return wrong(fmt::format("longer than {} bytes", kMostFilter));
      wanted.filter = value;
    } else if (name == "sort") {
      sort = value;
    } else if (name == "order") {
      if (value != "falling" && value != "rising") return wrong("falling or rising");
      wanted.reversed = value == "rising";
    } else if (name == "window") {
      const auto window = std::ranges::find(live::kWindowsS, number_of(value));
      if (window == live::kWindowsS.end()) return wrong(fmt::format("{} seconds", fmt::join(live::kWindowsS, ", ")));
      wanted.window = static_cast<std::size_t>(window - live::kWindowsS.begin());
    } else if (name == "idle") {
      if (value != "0" && value != "1") return wrong("0 or 1");
      wanted.hides_idle = value == "0";
    } else {
      return wrong("the parts of a query are by, within, filter, sort, order, window and idle");
    }
  }
  const auto column = column_of(sort, wanted.by, groups.columns(flows, wanted.by));
  if (!column) return Error{fmt::format("sort={}: these rows have no such column", sort)};
  wanted.sort = *column;
  if (wanted.sort <= live::kDestination) wanted.reversed = !wanted.reversed;  // text rises by itself
  return wanted;
}

std::string name_of(const Grouping& by, const FlowKey& key) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(&key);
  return fmt::format("{}:{:02x}", by.names.one, fmt::join(bytes, bytes + key.significant_bytes(), ""));
}

}  // namespace parshall::web
