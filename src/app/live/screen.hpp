// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "app/live/recall_tail.hpp"
#include "app/live/rows.hpp"
#include "app/live/state.hpp"
#include "app/live/text.hpp"

namespace parshall::live {

enum class Style : unsigned char { normal, title, heading, sorted_heading, cursor, faint, good, warning };

/// Text of one style on the screen; a line consists of pieces.
struct Piece {
  std::string text;
  Style style = Style::normal;
};
using Line = std::vector<Piece>;

struct Size {
  std::size_t columns, lines;
};

/// Values that change between two views.
struct Pulse {
  double elapsed_s = 0;
  std::vector<double> polled_pps;   ///< by the clock, newest last
  std::vector<std::string> events;  ///< latest task events, newest last
  std::vector<TaskRecall> recalls;  ///< latest recalls
  bool finished = false;
};

/// Returns how many events are to be shown.
std::size_t shown_events(const State& state, const Pulse& pulse) noexcept;

/// Number of lines for each part. The accounting and the line that says what is measured are never left out.
struct Layout {
  std::size_t accounting = 1, workers = 0, rows = 0;
  std::size_t events = 0;  ///< includes their heading
  bool totals = false, flows = false, pulse = false, heading = false, footer = false, measuring = false;
  bool adaptation = false, classes = false, forwarding = false;
};
Layout lay_out(Size size, const View* view, std::size_t events = 0);

/// Formats the accounting in at most `lines` lines: in full if it fits, else with shortened numbers.
std::vector<std::string> fit_accounting(const Accounting& accounting, Size size, Glyphs glyphs);

/// Draws the whole screen, at most `size.lines` lines of at most `size.columns`. `view` is null before the first
/// report.
std::vector<Line> draw(const State& state, const View* view, const Pulse& pulse, Size size, Glyphs glyphs);

/// Returns the number of rows to scroll through: flows, or lines.
std::uint64_t body_lines(const State& state, const View& view, const Pulse& pulse);

/// These draw the parts of the screen:
std::vector<Line> draw_header(const State& state, const View* view, const Pulse& pulse, const Layout& layout, Size size,
                              Glyphs glyphs);
std::vector<Line> draw_flows(const State& state, const View& view, const Layout& layout, Size size, Glyphs glyphs);
std::vector<Line> draw_counters(const View& view, std::uint64_t first, const Layout& layout, Size size, Glyphs glyphs);
std::vector<Line> draw_events(const State& state, const Pulse& pulse, const Layout& layout, Size size, Glyphs glyphs);
std::size_t counter_lines(const View& view);
std::vector<Line> draw_states(const View& view, const Pulse& pulse, std::uint64_t first, const Layout& layout,
                              Size size, Glyphs glyphs);
std::size_t states_lines(const View& view, const Pulse& pulse);
std::vector<Line> draw_help(Size size, Glyphs glyphs);

}  // namespace parshall::live
