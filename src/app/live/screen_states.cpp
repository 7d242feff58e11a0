// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "app/live/screen.hpp"
#include "pipeline/output/format.hpp"

namespace parshall::live {
namespace {

constexpr std::size_t kTaskColumn = 20, kStateColumn = 22, kEventColumns = 76, kEventLines = 4;

std::string scaled(std::uint64_t count) {
  return count < 100'000 ? fmt::to_string(count) : scaled_text(static_cast<double>(count));
}

std::string percent(std::uint64_t part, std::uint64_t all) {
  return all == 0 ? "-" : fmt::format("{:.3g} %", 100 * static_cast<double>(part) / static_cast<double>(all));
}

std::string number(std::optional<double> value) { return value ? fmt::format("{:.3f}", *value) : "-"; }

void adaptation_lines(const View& view, std::vector<Piece>& lines) {
  const AdaptationSummary& all = *view.summary.adaptation;
  const std::optional<Interval>& lately = view.lately;
  std::string enough = fmt::format("no time for all packets in {} of {} windows", all.infeasible, all.windows);
  if (lately) enough += fmt::format(", lately in {} of {}", lately->infeasible, lately->windows);
  lines.push_back({enough, lately && lately->infeasible != 0 ? Style::warning : Style::normal});
  lines.push_back({fmt::format("decisions took {:.2g} % of the time, {} at most", 100 * all.overhead_share,
                               time_text(1e3 * all.longest_us))});
  for (const GivenUp& task : all.given_up)
    if (task.is_now)
      lines.push_back({fmt::format("given up: {}, for {:.3g} s in total", task.task, task.seconds), Style::warning});
  const Accounting& total = view.summary.total;
  std::string missed = fmt::format("missed {} of {} packets", scaled(total.lost()), scaled(total.offered()));
  if (lately) missed += fmt::format(", lately {}", percent(lately->came.lost(), lately->came.offered()));
  lines.push_back({missed, lately && lately->came.lost() != 0 ? Style::warning : Style::normal});
}

void state_lines(const View& view, Glyphs glyphs, std::vector<Piece>& lines) {
  const auto add = [&](const auto& name, const auto& packets, const auto& reduced, const auto& late,
                       const auto& late_reduced, Style style) {
    lines.push_back({fmt::format("{:<{}} {:>14} {:>10} {:>15} {:>10}", cut(name, kStateColumn, glyphs), kStateColumn,
                                 packets, reduced, late, late_reduced),
                     style});
  };
  add("state", "packets", "reduced", "packets lately", "reduced", Style::heading);
  for (std::size_t i = 0; i < view.summary.states.size(); ++i) {
    const StateSummary& state = view.summary.states[i];
    const StateSummary late = view.lately ? view.lately->states[i] : StateSummary{};
    add(printable(state.name, glyphs), fmt::to_string(state.packets),
        percent(state.packets - state.kept, state.packets), view.lately ? scaled(late.packets) : "-",
        percent(late.packets - late.kept, late.packets), Style::normal);
  }
}

void recall_lines(const Pulse& pulse, Glyphs glyphs, std::vector<Piece>& lines) {
  const auto add = [&](const auto& task, const auto& recall, const auto& at_least, const auto& wanted, const auto& seen,
                       const auto& missed, const auto& packets, Style style) {
    lines.push_back({fmt::format("{:<{}} {:>6} {:>9} {:>6} {:>10} {:>8} {:>14}", cut(task, kTaskColumn, glyphs),
                                 kTaskColumn, recall, at_least, wanted, seen, missed, packets),
                     style});
  };
  add(fmt::format("latest {} windows", RecallTail::kWindows), "recall", ">= (95 %)", "wanted", "flows seen", "missed",
      "packets missed", Style::heading);
  for (const TaskRecall& task : pulse.recalls) {
    add(task.task, number(task.recall), number(task.at_least), number(task.threshold), scaled(task.flows_seen),
        scaled(task.flows_missed), scaled(task.packets_missed),
        task.recall.value_or(0) < task.threshold ? Style::warning : Style::normal);
    if (task.latest_event.empty()) continue;
    for (const std::string& line : wrap(printable(task.latest_event, glyphs), kEventColumns, kEventLines, glyphs))
      lines.push_back({"  " + line, Style::faint});
  }
}

std::vector<Piece> all_lines(const View& view, const Pulse& pulse, Glyphs glyphs) {
  std::vector<Piece> lines;
  if (view.summary.adaptation) adaptation_lines(view, lines);
  state_lines(view, glyphs, lines);
  if (!pulse.recalls.empty()) recall_lines(pulse, glyphs, lines);
  return lines;
}

}  // namespace

std::size_t states_lines(const View& view, const Pulse& pulse) { return all_lines(view, pulse, Glyphs::ascii).size(); }

std::vector<Line> draw_states(const View& view, const Pulse& pulse, std::uint64_t first, const Layout& layout,
                              Size size, Glyphs glyphs) {
  std::vector<Line> lines;
  const auto add = [&](const Piece& piece) { lines.push_back({{cut(piece.text, size.columns, glyphs), piece.style}}); };
  if (layout.heading) add({"monitoring states (w goes back to the flows)", Style::heading});
  const auto all = all_lines(view, pulse, glyphs);
  for (std::size_t i = first; i < std::min<std::size_t>(all.size(), first + layout.rows); ++i) add(all[i]);
  return lines;
}

}  // namespace parshall::live
