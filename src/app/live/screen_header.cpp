// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "app/live/screen.hpp"
#include "pipeline/output/format.hpp"
#include "pipeline/output/text/summary_text.hpp"

namespace parshall::live {
namespace {

constexpr std::size_t kBusyBar = 8;

std::string rate_text(std::optional<double> value, const char* unit) {
  return value ? scaled_text(*value, unit) : std::string("- ") + unit;
}

Line whole(std::string_view text, Style style, Size size, Glyphs glyphs) {
  return {{cut(text, size.columns, glyphs), style}};
}

/// Joins as many parts as fit, two spaces apart; the first is always included.
Line joined(std::initializer_list<std::string> parts, Size size, Glyphs glyphs) {
  std::string line;
  for (const std::string& part : parts) {
    if (!line.empty() && width_of(line) + 2 + width_of(part) > size.columns) break;
    if (!line.empty()) line += "  ";
    line += part;
  }
  return whole(line, Style::normal, size, glyphs);
}

Line title(const State& state, const View* view, const Pulse& pulse, Size size, Glyphs glyphs) {
  std::string text = pulse.finished ? "ENDED" : "LIVE";
  if (state.paused()) text = pulse.finished ? "PAUSED, ENDED" : "PAUSED";
  text += fmt::format("  {:.1f} s", pulse.elapsed_s);
  if (view != nullptr) text += "  " + printable(view->summary.source, glyphs);
  text = cut(text, size.columns, glyphs);
  text.append(size.columns - width_of(text), ' ');
  return {{text, Style::title}};
}

Line totals(const View& view, Size size, Glyphs glyphs) {
  const Accounting& total = view.summary.total;
  const std::string packets = fmt::format("{} packets", total.counted()),
                    bytes = fmt::format("{} bytes", total[Counter::wire_bytes]);
  const std::string pps = rate_text(view.pps, "pps"), bps = rate_text(view.bps, "bit/s");
  if (width_of(packets) + width_of(bytes) + width_of(pps) + width_of(bps) + 6 <= size.columns)
    return joined({packets, bytes, pps, bps}, size, glyphs);
  return joined({pps, bps, shorten_numbers(packets), shorten_numbers(bytes)}, size, glyphs);
}

Line flows(const View& view, Size size, Glyphs glyphs) {
  const ReportSummary& summary = view.summary;
  const LossRatio loss = loss_ratio(summary.total.lost(), summary.total.offered());
  const std::string ratio = fmt::format("loss {:.3g} (< {:.3g}, 95 %)", loss.ratio, loss.upper95);
  if (summary.capacity == 0) return joined({ratio, "packet level: no flows are kept"}, size, glyphs);
  const Accounting& total = summary.total;
  return joined({fmt::format("flows {}/{}", total[Counter::live_flows], summary.capacity), ratio,
                 fmt::format("{} ended, {} evicted", total[Counter::ended_records], total[Counter::evicted_records])},
                size, glyphs);
}

/// Formats the state of adaptation. Leaves out recent values at the end of the run and just after its start.
Line adaptation(const View& view, Size size, Glyphs glyphs) {
  const AdaptationSummary& all = *view.summary.adaptation;
  const bool known = view.lately && view.lately->seconds > 0;
  const double share = known ? view.lately->reduced_s / view.lately->seconds : 0;
  const std::string mode = "overload " + all.mode;
  const std::string sum = fmt::format("{:.3g} of {:.3g} s", all.reduced_s, all.seconds);
  if (!known) return joined({mode, fmt::format("tasks left out flows in {}", sum), "w states"}, size, glyphs);
  Line line = joined(
      {mode,
       share > 0 ? fmt::format("tasks leave out flows {:.0f} % of the time", 100 * share) : "tasks follow all flows",
       fmt::format("in all {}", sum), "w states"},
      size, glyphs);
  if (view.lately->infeasible != 0) line[0].style = Style::warning;
  return line;
}

/// Formats the classes' shares of all packets, as many as fit.
Line classes(const View& view, Size size, Glyphs glyphs) {
  const double all = static_cast<double>(std::max<std::uint64_t>(1, view.summary.total.counted()));
  std::string line = "classes";
  for (const ClassSummary* const one : by_packets(view.summary)) {
    const std::string part = fmt::format("  {} {:.3g} %", printable(one->name, glyphs),
                                         100 * static_cast<double>(one->counts[ClassCounter::packets]) / all);
    if (width_of(line) + width_of(part) > size.columns) break;
    line += part;
  }
  return whole(line, Style::normal, size, glyphs);
}

Line forwarding(const View& view, Size size, Glyphs glyphs) {
  const ForwardingSummary& all = *view.summary.forwarding;
  Line line = joined({fmt::format("forwarded {}", all.sent), fmt::format("{} marked", all.marked()),
                      fmt::format("{} not sent", all.not_sent())},
                     size, glyphs);
  if (all.not_sent() != 0) line[0].style = Style::warning;
  return line;
}

Line heartbeat(const Pulse& pulse, Size size, Glyphs glyphs) {
  const double now = pulse.polled_pps.empty() ? 0 : pulse.polled_pps.back();
  const std::string text = fmt::format("processed {:<9} ", scaled_text(now, "pps"));
  if (text.size() >= size.columns) return whole(text, Style::normal, size, glyphs);
  return {{text}, {sparkline(pulse.polled_pps, size.columns - text.size(), glyphs), Style::good}};
}

void workers(const View& view, std::size_t lines, Size size, Glyphs glyphs, std::vector<Line>& out) {
  std::vector<std::pair<std::string, double>> all;  // name and busy share of each thread
  for (std::size_t i = 0; i < view.summary.receivers.size(); ++i)
    all.emplace_back(fmt::format("rx{}", i), view.summary.receivers[i].busy_share);
  for (std::size_t i = 0; i < view.summary.workers.size(); ++i)
    all.emplace_back(fmt::to_string(i), view.summary.workers[i].busy_share);
  const std::size_t per_line = std::max<std::size_t>(1, size.columns / 20);
  for (std::size_t line = 0; line < lines; ++line) {
    std::string text;
    for (std::size_t i = line * per_line; i < std::min(all.size(), (line + 1) * per_line); ++i)
      text +=
          fmt::format("{:>3} {} {:>3.0f} %  ", all[i].first, bar(all[i].second, kBusyBar, glyphs), 100 * all[i].second);
    if (line + 1 == lines && lines * per_line < all.size())
      text += fmt::format(" and {} more", all.size() - lines * per_line);
    out.push_back(whole(text, Style::normal, size, glyphs));
  }
}

Line measuring(const State& state, const View* view, const Layout& layout, Size size, Glyphs glyphs) {
  if (!layout.footer && (state.editing_filter() || !state.message().empty()))  // without a footer this is the only
                                                                               // place for it
    return whole(
        state.editing_filter() ? fmt::format("/{}_", printable(state.arrangement().filter, glyphs)) : state.message(),
        Style::warning, size, glyphs);
  const Grouping* const by = state.arrangement().by;
  const bool are_groups = state.choice().level == Level::flow && by != nullptr;
  std::string text = describe(state.choice(), by);
  if (size.columns < 60) {
    if (are_groups)
      text = by->names.many;
    else if (state.choice().level == Level::flow && !state.choice().own)
      text = fmt::format("{} {}", name_of(state.choice().of), name_of(state.choice().what));
  }
  if (!are_groups) text += fmt::format(", {}{:.1f} s", size.columns < 60 ? "" : "since ", state.chosen_s());
  if (const auto& within = state.arrangement().within; state.choice().level == Level::flow && !within.empty())
    text = fmt::format("{} (Esc: back): {}", within_text(within), text);
  if (view == nullptr) return whole(text, Style::faint, size, glyphs);
  if (!view->filter_problem.empty())
    return whole("filter: " + printable(view->filter_problem, glyphs), Style::warning, size, glyphs);
  if (!view->arrangement.filter.empty())
    text += fmt::format("; filter \"{}\": {}", printable(view->arrangement.filter, glyphs), view->matched);
  if (state.choice().level == Level::flow) text += fmt::format("; rates over {:.0f} s", view->arrangement.window_s());
  if (view->idle != 0) text += fmt::format("; {} idle (z shows them)", view->idle);
  return whole(text, Style::faint, size, glyphs);
}

}  // namespace

std::vector<std::string> fit_accounting(const Accounting& accounting, Size size, Glyphs glyphs) {
  const std::size_t lines = size.lines < 6 ? 1 : size.lines < 12 ? 2 : size.lines < 20 ? 3 : 4;
  std::string text = accounting_line(accounting);
  if (!accounting.balanced()) text = "DOES NOT BALANCE: " + text;  // at the front, since cutting removes the end
  const auto fits = [&](const std::string& candidate) {
    const auto wrapped = wrap(candidate, size.columns, lines + 1, glyphs);
    return wrapped.size() <= lines;
  };
  if (!fits(text)) text = shorten_numbers(text);
  if (!fits(text)) {
    for (const auto& [from, to] : {std::pair{" offered", ""}, {" = ", "="}, {" + ", "+"}})
      for (std::size_t at; (at = text.find(from)) != std::string::npos;) text.replace(at, std::strlen(from), to);
  }
  return wrap(text, size.columns, lines, glyphs);
}

std::vector<Line> draw_header(const State& state, const View* view, const Pulse& pulse, const Layout& layout, Size size,
                              Glyphs glyphs) {
  std::vector<Line> lines{title(state, view, pulse, size, glyphs)};
  if (view == nullptr) {
    lines.push_back(whole("0 offered = 0 counted: no packet has arrived yet", Style::normal, size, glyphs));
    if (layout.measuring) lines.push_back(measuring(state, view, layout, size, glyphs));
    return lines;
  }
  if (layout.totals) lines.push_back(totals(*view, size, glyphs));
  if (layout.pulse) lines.push_back(heartbeat(pulse, size, glyphs));
  workers(*view, layout.workers, size, glyphs, lines);
  if (layout.flows) lines.push_back(flows(*view, size, glyphs));
  if (layout.adaptation) lines.push_back(adaptation(*view, size, glyphs));
  if (layout.classes) lines.push_back(classes(*view, size, glyphs));
  if (layout.forwarding) lines.push_back(forwarding(*view, size, glyphs));
  const Style style = view->summary.total.balanced() ? Style::good : Style::warning;
  for (const std::string& line : fit_accounting(view->summary.total, size, glyphs))
    lines.push_back(whole(line, style, size, glyphs));
  if (layout.measuring) lines.push_back(measuring(state, view, layout, size, glyphs));
  return lines;
}

}  // namespace parshall::live
