// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "../app/reports.hpp"
#include "app/live/row_groups.hpp"
#include "app/live/row_key.hpp"
#include "app/live/screen.hpp"
#include "app/live/table.hpp"
#include "targets.hpp"

namespace parshall::fuzz {
namespace {

using namespace live;

constexpr std::size_t kFlows = 40, kKeysBetweenScreens = 8, kMostKeys = 200;

const MadeReport& made_report() {
  static const MadeReport made = [] {
    MadeReport report{.flows = {}, .columns = schema_of({"gap_p50"}), .values = {Value::of_real(12)}};
    for (std::uint32_t i = 0; i < kFlows; ++i)
      report.flows.push_back(flow(i * 37, 1000 + i * i, i % 3 == 0 ? 17 : i % 3 == 1 ? 6 : 132));
    return report;
  }();
  return made;
}

const Table& made_table() {
  static Table table;
  static const bool loaded = [] {
    table.load(made_report().report(1, 1), [] {});
    table.commit();
    return true;
  }();
  require(loaded);
  return table;
}

View arranged(const Arrangement& wanted) {
  static RowGroups groups({}, 1);
  return *groups.arrange(made_table().rows(), wanted, [] { return false; });
}

/// A row passes either a filter or its opposite; with a wrong filter, all rows pass.
void check_filter(const View& view) {
  Arrangement opposite = view.arrangement, all = opposite;
  all.filter.clear();
  const std::uint64_t rows = arranged(all).matched;
  if (!view.filter_problem.empty() || opposite.filter.find_first_not_of(' ') == std::string::npos)
    return require(view.matched == rows);
  opposite.filter = "not (" + opposite.filter + ")";
  const View others = arranged(opposite);
  require(others.filter_problem.empty());
  require(view.matched + others.matched == rows);
}

void check_screen(State& state, const Pulse& pulse, Size size, Glyphs glyphs) {
  const View view = arranged(state.arrangement());
  check_filter(view);
  state.fit(body_lines(state, view, pulse), lay_out(size, &view, shown_events(state, pulse)).rows,
            kFixedColumns + view.columns.size());
  require(state.arrangement().sort < kFixedColumns + view.columns.size());
  require(!state.has_cursor() || view.matched == 0 || state.cursor() < view.matched);
  const std::uint64_t at = state.cursor() - view.first;
  state.point_at(state.has_cursor() && at < view.rows.size() ? opened(view.rows[at], view) : std::nullopt);
  require(state.arrangement().filter.size() <= 64);
  for (const View* const shown : {&view, static_cast<const View*>(nullptr)}) {
    const auto lines = draw(state, shown, pulse, size, glyphs);
    require(lines.size() <= size.lines);
    for (const Line& line : lines) {
      std::size_t width = 0;
      for (const Piece& piece : line) {
        width += width_of(piece.text);
        for (const char c : piece.text) require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7F);
      }
      require(width <= size.columns);
    }
  }
}

/// Names come from outside: whatever they are, they fit, and say nothing to the terminal.
void check_texts(const std::string& text, std::size_t width, Glyphs glyphs) {
  const std::string clean = printable(text, glyphs);
  require(clean.size() >= text.size() || glyphs == Glyphs::ascii);
  for (const char c : clean) require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7F);
  require(width_of(cut(clean, width, glyphs)) <= width && width_of(cut_middle(clean, width, glyphs)) <= width);
  if (width_of(clean) <= width) require(cut(clean, width, glyphs) == clean);
  constexpr std::size_t kLines = 4;
  const auto lines = wrap(clean, width, kLines, glyphs);
  require(lines.size() <= kLines);
  for (const std::string& line : lines) require(width_of(line) <= width);
  static_cast<void>(shorten_numbers(clean));
}

KeyPress key_of(std::uint8_t byte) {
  if (byte >= 0x20 && byte < 0x7F) return {Key::text, static_cast<char>(byte)};
  const auto key = static_cast<Key>(byte % (static_cast<unsigned>(Key::resize) + 1));
  return {key == Key::text ? Key::none : key};
}

}  // namespace

/// Input: what kind of run it is, the screen's size, glyphs; keys; 0xFF; a name from outside.
void fuzz_live(Bytes input) {
  Input in(input);
  const std::uint8_t kind = in.byte();
  const Size size{std::size_t{1} + in.byte(), std::size_t{1} + in.byte() % 80};
  const Glyphs glyphs = (kind & 8) != 0 ? Glyphs::unicode : Glyphs::ascii;
  const std::string keys = in.text_until('\xff'), name = in.text();
  check_texts(name, size.columns, glyphs);
  State state((kind & 1) != 0, (kind & 2) != 0, (kind & 4) != 0);
  const Pulse pulse{.elapsed_s = 12, .polled_pps = {1e6, 0, 5e5}, .events = {printable(name, glyphs)}, .recalls = {}};
  std::size_t pressed = 0;
  for (const char key : keys) {
    state.press(key_of(static_cast<std::uint8_t>(key)), static_cast<double>(pressed));
    require(printable(state.message(), Glyphs::unicode) == state.message());
    if (++pressed % kKeysBetweenScreens == 0) check_screen(state, pulse, size, glyphs);
    if (pressed == kMostKeys) break;
  }
  check_screen(state, pulse, size, glyphs);
}

}  // namespace parshall::fuzz
