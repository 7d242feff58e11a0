// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/live/row_key.hpp"
#include "app/live/screen.hpp"
#include "pipeline/output/format.hpp"

namespace parshall::live {
namespace {

constexpr std::size_t kLeastEndpoint = 8;  ///< columns for an address before numbers are left out
constexpr std::size_t kExactNumbers = 90;  ///< columns of the screen that full counters need, without chosen columns
constexpr std::size_t kPerColumn = 12;     ///< and more for each chosen column
constexpr std::size_t kProtocolWidth = 6;

std::string heading_of(std::size_t column, const View& view) {
  constexpr std::string_view kFixed[] = {"pps", "bit/s", "packets", "bytes"};
  if (column <= kDestination) return std::string(key_headings(view.by)[column]);
  const bool is_less = (column == kPackets || column == kBytes) && !counts_all(view.summary);
  if (column < kFixedColumns) return (is_less ? ">=" : "") + std::string(kFixed[column - kPps]);
  return short_name_of(view.columns[column - kFixedColumns]);
}

std::string value_text(const ColumnInfo& column, float value) {
  if (std::isnan(value)) return "-";
  if (column.type.value == ValueType::text) {
    constexpr std::size_t kMost = 32;
    const std::string& text = column.values[static_cast<std::size_t>(value)];
    return text.size() <= kMost ? text : ".." + text.substr(text.size() - kMost + 2);  // names differ most at the end
  }
  if (column.type.value == ValueType::flags) return tcp_flags_text(static_cast<std::uint32_t>(value));
  if (column.type.value == ValueType::enumeration) return column.values[static_cast<std::size_t>(value)];
  if (column.type.value == ValueType::boolean) return std::string(bool_text(value != 0));
  return column.unit == "ns" ? time_text(value) : scaled_text(value);
}

std::string cell(const Row& row, std::size_t column, const View& view, bool exact) {
  switch (column) {
    case kProtocol:
    case kSource:
    case kDestination:
      return key_text(row, column, view);
    case kPps:
    case kBps:
      return std::isnan(row.values[column - kPps]) ? "-" : scaled_text(row.values[column - kPps]);
    case kPackets:
      return exact ? fmt::to_string(row.packets) : scaled_text(static_cast<double>(row.packets));
    case kBytes:
      return exact ? fmt::to_string(row.wire_bytes) : scaled_text(static_cast<double>(row.wire_bytes));
    default:
      return value_text(view.columns[column - kFixedColumns], row.values[2 + column - kFixedColumns]);
  }
}

/// Columns to show and their widths.
struct Grid {
  std::vector<std::size_t> columns, widths;

  /// Reserves room for the text columns, then adds as many number columns as fit. The sort column is always among them.
  Grid(const std::vector<std::vector<std::string>>& cells, std::size_t sort, std::size_t width) {
    std::vector<std::size_t> natural(cells[0].size());
    for (const auto& row : cells)
      for (std::size_t i = 0; i < row.size(); ++i) natural[i] = std::max(natural[i], width_of(row[i]));
    const std::size_t count = natural.size();
    std::size_t numbers = 0;  // columns on the screen, including the space in front
    std::vector<bool> shown(count, false);
    const auto fits = [&](std::size_t i, std::size_t text) { return numbers + natural[i] + 1 + text <= width; };
    const std::size_t protocol_width = natural[kProtocol] == 0 ? 0 : kProtocolWidth;
    const std::size_t least_text = width < 40 ? kLeastEndpoint : protocol_width + 2 * (kLeastEndpoint + 1);
    const auto show = [&](std::size_t i) {
      if (shown[i] || !fits(i, least_text)) return;
      shown[i] = true;
      numbers += natural[i] + 1;
    };
    if (sort > kDestination) show(sort);
    for (std::size_t i = kFixedColumns; i < count; ++i) show(i);  // chosen columns before fixed ones
    for (const std::size_t i : {kPps, kPackets, kBps, kBytes}) show(i);

    std::size_t room = width - std::min(width, numbers);
    const bool all_text = width >= 40;
    if (all_text) {
      if (protocol_width != 0) add(kProtocol, std::min(protocol_width, room));
      room -= std::min(room, protocol_width + 2);  // includes the spaces around the source
      const std::size_t source =
          std::min(natural[kSource], std::max(room / 2, room - std::min(room, natural[kDestination])));
      add(kSource, source);
      room -= std::min(room, source + 1);
      if (natural[kDestination] != 0) add(kDestination, std::min(natural[kDestination], room));
    } else {
      add(sort == kDestination ? kDestination : kSource,
          std::min(room, natural[sort == kDestination ? kDestination : kSource]));
    }
    for (std::size_t i = kPps; i < count; ++i)
      if (shown[i]) add(i, natural[i]);
  }

 private:
  void add(std::size_t column, std::size_t width) {
    columns.push_back(column);
    widths.push_back(width);
  }
};

enum class LineKind : std::uint8_t { heading, row, row_at_cursor };

Line grid_line(const std::vector<std::string>& cells, const Grid& grid, std::size_t sort, LineKind kind, Size size,
               Glyphs glyphs) {
  const bool heading = kind == LineKind::heading;
  const Style style = kind == LineKind::row ? Style::normal : heading ? Style::heading : Style::cursor;
  Line line;
  std::size_t used = 0;
  for (std::size_t i = 0; i < grid.columns.size() && used < size.columns; ++i) {
    const std::size_t column = grid.columns[i];
    const bool address = column == kSource || column == kDestination;
    std::string text = (address && !heading ? cut_middle : cut)(cells[column], grid.widths[i], glyphs);
    const std::string fill(grid.widths[i] - width_of(text), ' ');
    text = column <= kDestination ? text.append(fill) : fill + text;
    if (i != 0) text = ' ' + text;
    text = cut(text, size.columns - used, glyphs);
    used += width_of(text);
    line.push_back({text, heading && column == sort ? Style::sorted_heading : style});
  }
  if (style != Style::normal && used < size.columns) line.push_back({std::string(size.columns - used, ' '), style});
  return line;
}

}  // namespace

std::vector<Line> draw_flows(const State& state, const View& view, const Layout& layout, Size size, Glyphs glyphs) {
  const std::size_t columns = kFixedColumns + view.columns.size();
  const Arrangement& shown = view.arrangement;  // order of the rows, which may lag behind the keys
  const std::uint64_t wanted = view.is_of(state.arrangement()) ? state.arrangement().first : view.first;
  const std::uint64_t first = std::clamp(wanted, view.first, view.first + view.rows.size());
  const bool exact = size.columns >= kExactNumbers + kPerColumn * view.columns.size();
  std::vector<std::vector<std::string>> cells(1);
  for (std::size_t c = 0; c < columns; ++c) {
    std::string name = heading_of(c, view);
    const bool falls = (c > kDestination) != shown.reversed;
    if (c == shown.sort) name += glyphs == Glyphs::unicode ? (falls ? "▼" : "▲") : (falls ? "v" : "^");
    cells[0].push_back(std::move(name));
  }
  for (std::uint64_t r = first; r < std::min(first + layout.rows, view.first + view.rows.size()); ++r) {
    auto& row = cells.emplace_back();
    for (std::size_t c = 0; c < columns; ++c) row.push_back(cell(view.rows[r - view.first], c, view, exact));
  }
  const Grid grid(cells, shown.sort, size.columns);
  std::vector<Line> lines;
  for (std::size_t r = layout.heading ? 0 : 1; r < cells.size(); ++r) {
    const LineKind kind = r == 0                            ? LineKind::heading
                          : first + r - 1 == state.cursor() ? LineKind::row_at_cursor
                                                            : LineKind::row;
    lines.push_back(grid_line(cells[r], grid, shown.sort, kind, size, glyphs));
  }
  return lines;
}

namespace {

using NamedCount = std::pair<std::string, std::optional<std::uint64_t>>;

std::vector<NamedCount> counters(const View& view) {
  const Accounting& total = view.summary.total;
  std::vector<NamedCount> all{{"offered", total.offered()}};
  for (const CounterLine& line : Counters::kTable)
    if (line.part == CounterPart::device_lost || line.part == CounterPart::outcome ||
        line.part == CounterPart::malformed)
      all.emplace_back(line.name, total.known(line.id));
  all.emplace_back("wire bytes", total[Counter::wire_bytes]);
  if (view.summary.capacity != 0) all.emplace_back("ip bytes", total[Counter::ip_bytes]);  // else not decoded
  for (std::size_t i = 0; i < view.summary.workers.size(); ++i)
    all.emplace_back(fmt::format("worker {} counted", i), view.summary.workers[i].accounting.counted());
  return all;
}

}  // namespace

std::size_t counter_lines(const View& view) { return counters(view).size(); }

std::vector<Line> draw_counters(const View& view, std::uint64_t first, const Layout& layout, Size size, Glyphs glyphs) {
  std::vector<Line> lines;
  const auto add = [&](const std::string& text, Style style) {
    lines.push_back({{cut(text, size.columns, glyphs), style}});
  };
  if (layout.heading) add(fmt::format("{:<24}{:>22}", "counter", "packets (or bytes)"), Style::heading);
  const auto all = counters(view);
  for (std::size_t i = first; i < std::min<std::size_t>(all.size(), first + layout.rows); ++i) {
    const std::string value = all[i].second ? fmt::to_string(*all[i].second) : "not reported";
    if (size.columns >= 46)
      add(fmt::format("{:<24}{:>22}", all[i].first, value), Style::normal);
    else
      add(fmt::format("{} {}", all[i].first, shorten_numbers(value)), Style::normal);
  }
  return lines;
}

}  // namespace parshall::live
