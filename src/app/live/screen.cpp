// SPDX-License-Identifier: Apache-2.0
#include "app/live/screen.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace parshall::live {
namespace {

constexpr std::size_t kMaxWorkerLines = 4;
constexpr std::string_view kKeys[] = {
    "h help  q quit  p pause  / filter  f rows  Enter opens  o order  2 1 6 time  left/right sort  r reverse  z idle  "
    "t rate g gap i iat s size  l last c cumulated x range a mean m moments e percentiles",
    "h help  q quit  p pause  / filter  f rows  Enter opens  o order  2 1 6 time  <> sort  r reverse  z idle",
    "h help  q quit  p pause  / filter  f rows  Enter opens  o order  <> sort", "h help  q quit  f rows  / filter"};

Line footer(const State& state, Size size, Glyphs glyphs) {
  if (state.editing_filter())
    return {
        {cut(fmt::format("filter: {}_  (Enter keeps it, Esc clears it)", printable(state.arrangement().filter, glyphs)),
             size.columns, glyphs)}};
  if (!state.message().empty())
    return {{cut(printable(state.message(), glyphs), size.columns, glyphs), Style::warning}};
  const auto* const keys =
      std::ranges::find_if(kKeys, [&](std::string_view line) { return line.size() <= size.columns; });
  return {{cut(keys == std::end(kKeys) ? std::end(kKeys)[-1] : *keys, size.columns, glyphs), Style::faint}};
}

Line help_line(std::string_view text, Size size, Glyphs glyphs) { return {{cut(text, size.columns, glyphs)}}; }

}  // namespace

std::size_t shown_events(const State& state, const Pulse& pulse) noexcept {
  return state.events_shown() && !state.states_shown() ? pulse.events.size() : 0;
}

std::uint64_t body_lines(const State& state, const View& view, const Pulse& pulse) {
  if (state.states_shown()) return states_lines(view, pulse);
  return state.choice().level == Level::packet ? counter_lines(view) : view.matched;
}

Layout lay_out(Size size, const View* view, std::size_t events) {
  Layout layout;
  const std::size_t lines = size.lines;
  layout.accounting = view == nullptr ? 1 : fit_accounting(view->summary.total, size, Glyphs::ascii).size();
  std::size_t used = 1 + layout.accounting;
  std::size_t for_rows = 1;
  const auto take = [&](bool& part) {
    if (used + for_rows < lines) part = true, ++used;
  };
  take(layout.measuring);
  take(layout.heading);
  for_rows = 2;
  take(layout.footer);
  take(layout.totals);
  for_rows = 3;
  take(layout.flows);
  for_rows = 5;
  take(layout.pulse);
  if (view != nullptr && view->summary.adaptation) take(layout.adaptation);
  if (view != nullptr && !view->summary.classes.empty()) take(layout.classes);
  if (view != nullptr && view->summary.forwarding) take(layout.forwarding);
  const std::size_t workers = view == nullptr ? 0 : view->summary.workers.size() + view->summary.receivers.size();
  const std::size_t per_line = std::max<std::size_t>(1, size.columns / 20);
  const std::size_t wanted = std::min((workers + per_line - 1) / per_line, lines < 20 ? 1 : kMaxWorkerLines);
  layout.workers = std::min(wanted, lines - std::min(lines, used + for_rows));
  used += layout.workers;
  const std::size_t left = lines - std::min(lines, used + for_rows);
  if (events != 0 && left >= 2) layout.events = std::min({events + 1, left, std::max<std::size_t>(2, lines / 4)});
  used += layout.events;
  layout.rows = lines - std::min(lines, used);
  return layout;
}

std::vector<Line> draw(const State& state, const View* view, const Pulse& pulse, Size size, Glyphs glyphs) {
  if (state.help()) return draw_help(size, glyphs);
  const Layout layout = lay_out(size, view, shown_events(state, pulse));
  std::vector<Line> screen = draw_header(state, view, pulse, layout, size, glyphs);
  if (view != nullptr) {
    const std::uint64_t first = state.arrangement().first;
    auto body = state.states_shown()                    ? draw_states(*view, pulse, first, layout, size, glyphs)
                : state.choice().level == Level::packet ? draw_counters(*view, first, layout, size, glyphs)
                                                        : draw_flows(state, *view, layout, size, glyphs);
    screen.insert(screen.end(), std::make_move_iterator(body.begin()), std::make_move_iterator(body.end()));
  }
  const std::size_t body_lines = size.lines - layout.footer;
  screen.resize(body_lines - layout.events);
  auto events = draw_events(state, pulse, layout, size, glyphs);
  screen.insert(screen.end(), std::make_move_iterator(events.begin()), std::make_move_iterator(events.end()));
  screen.resize(body_lines);
  if (layout.footer) screen.push_back(footer(state, size, glyphs));
  screen.resize(std::min(screen.size(), size.lines));
  return screen;
}

std::vector<Line> draw_events(const State& state, const Pulse& pulse, const Layout& layout, Size size, Glyphs glyphs) {
  std::vector<Line> lines;
  if (layout.events < 2) return lines;
  const std::size_t count = std::min(layout.events - 1, pulse.events.size());
  const std::vector<Opened>& within = state.arrangement().within;
  const std::string what = within.empty() ? "alarms and figures" : "alarms of " + within_text(within);
  lines.push_back(
      {{cut(fmt::format("{}, the latest {} (v hides them)", what, count), size.columns, glyphs), Style::heading}});
  for (const std::string& event : std::span(pulse.events).last(count))
    lines.push_back({{cut(printable(event, glyphs), size.columns, glyphs)}});
  return lines;
}

std::vector<Line> draw_help(Size size, Glyphs glyphs) {
  constexpr std::string_view kHelp[] = {
      "Parshall, live view: press any key to go back",
      "",
      "q            end the run and print the final report (Ctrl-C too)",
      "p, space     freeze the screen; measuring goes on",
      "/            filter: host 10.0.0.1, net 10.0.0.0/8, port 53, proto udp,",
      "             vlan 10, pps > 1000; and or not ( ); src dst before host net port",
      "f            rows: flows, hosts, conversations, services, prefixes, ...",
      "Enter        open a row: a host's conversations, peers (f) and alarms",
      "Esc          clear the filter, or go back",
      "2 1 6        rates over about 2, 10 or 60 s",
      "o            order by rates, or by totals of flows that have not ended",
      "z            show or hide rows without a packet in that time",
      "left, right  choose the column to sort by",
      "r            reverse the order",
      "up, down, PgUp, PgDn, Home, End   scroll",
      "v            show or hide alarms and figures of tasks",
      "w            monitoring states, which flows are reduced, and the recall of tasks",
      "d            counters of the device, and back",
      "",
      "Choose what to compute for every flow, from now on:",
      "t g i s      rate, gap (packets of other flows in between),",
      "             iat (time between packets), size (bytes on the wire)",
      "l c x a m e  last, cumulated, range, mean (average), moments,",
      "             percentiles",
      "u            the columns of --columns",
  };
  std::vector<Line> lines;
  for (const std::string_view line : kHelp) lines.push_back(help_line(line, size, glyphs));
  lines.resize(std::min(lines.size(), size.lines));
  if (!lines.empty()) lines[0][0].style = Style::title;
  return lines;
}

}  // namespace parshall::live
