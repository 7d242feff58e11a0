// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "tester/chart/markup.hpp"
#include "tester/chart/number_text.hpp"
#include "tester/search_report/report_values.hpp"
#include "tester/search_report/search_charts.hpp"

namespace parshall::tester {
namespace {

/// With more searches, a page has results and trials but no charts, since it would be too long to open.
constexpr std::size_t kSearchesDrawn = 50;

constexpr std::string_view kStyle =
    ":root { color-scheme: light dark; --page: #ffffff; --ink: #1d2733; --dim: #56616d; --faint: #dfe4ea;\n"
    "  --kept: #1f6fc4; --lost: #c8501e; --third: #2c8a57; --fourth: #7d55b8; }\n"
    "@media (prefers-color-scheme: dark) { :root { --page: #14191f; --ink: #e3e8ee; --dim: #9aa6b3; --faint: #333d48;\n"
    "  --kept: #64a8f0; --lost: #f08a55; --third: #5cc08a; --fourth: #b394e6; } }\n"
    "@media print { :root { --page: #ffffff; --ink: #000000; --dim: #444444; --faint: #cccccc;\n"
    "  --kept: #1f6fc4; --lost: #c8501e; --third: #2c8a57; --fourth: #7d55b8; }\n"
    "  section, figure, tr { break-inside: avoid; } }\n"
    "body { background: var(--page); color: var(--ink); font: 15px/1.45 sans-serif; max-width: 1180px;\n"
    "  margin: 0 auto; padding: 1.2em; }\n"
    "h1 { font-size: 1.5em; margin: 0 0 0.2em; overflow-wrap: anywhere; } h2 { font-size: 1.2em; margin: 2em 0 0.4em; "
    "}\n"
    "h3 { font-size: 1em; margin: 1.2em 0 0.3em; }\n"
    "p { margin: 0.4em 0; } .dim { color: var(--dim); } .warning { color: var(--lost); font-weight: bold; }\n"
    ".scroll { overflow-x: auto; }\n"
    "table { border-collapse: collapse; margin: 0.5em 0; font-variant-numeric: tabular-nums; }\n"
    "th, td { padding: 0.25em 0.8em 0.25em 0; text-align: left; vertical-align: top;\n"
    "  border-bottom: 1px solid var(--faint); overflow-wrap: anywhere; }\n"
    "th { font-weight: 600; color: var(--dim); } .number { text-align: right; }\n"
    "td.name, td.number { white-space: nowrap; } code { overflow-wrap: anywhere; }\n"
    ".charts { display: flex; flex-wrap: wrap; gap: 1em; } figure { margin: 0.4em 0; width: 560px; max-width: 100%; }\n"
    "figcaption { color: var(--dim); } details { margin: 0.6em 0; } summary { cursor: pointer; }\n"
    ".kept, .series0 { color: var(--kept); } .lost, .series1 { color: var(--lost); }\n"
    ".series2, .median { color: var(--third); } .series3, .goal { color: var(--fourth); } .ceiling { color: "
    "var(--dim); }\n";

enum class Align : std::uint8_t { name, text, number };

struct HtmlColumn {
  std::string_view head;
  Align align = Align::number;
};

/// Table of cells with arbitrary text.
class HtmlTable {
 public:
  explicit HtmlTable(std::vector<HtmlColumn> columns) : columns_(std::move(columns)) {
    html_ = "<div class=\"scroll\"><table><thead><tr>";
    for (const HtmlColumn& column : columns_)
      html_ += fmt::format("<th{}>{}</th>", style(column), markup_text(column.head));
    html_ += "</tr></thead><tbody>\n";
  }

  void add(const std::vector<std::string>& cells) {
    html_ += "<tr>";
    for (std::size_t i = 0; i < cells.size(); ++i)
      html_ += fmt::format("<td{}>{}</td>", style(columns_[i]), markup_text(cells[i]));
    html_ += "</tr>\n";
  }

  std::string html() const { return html_ + "</tbody></table></div>\n"; }

 private:
  static std::string_view style(const HtmlColumn& column) {
    switch (column.align) {
      case Align::name:
        return " class=\"name\"";
      case Align::number:
        return " class=\"number\"";
      case Align::text:
        return "";
    }
    return "";
  }

  std::vector<HtmlColumn> columns_;
  std::string html_;
};

std::string facts_table(std::span<const Fact> facts) {
  std::string html = "<div class=\"scroll\"><table><tbody>\n";
  for (const auto& [name, value] : facts)
    fmt::format_to(std::back_inserter(html), "<tr><td class=\"name dim\">{}</td><td>{}</td></tr>\n", markup_text(name),
                   markup_text(value));
  return html + "</tbody></table></div>\n";
}

std::string figure(const Chart& chart, std::string_view caption) {
  return fmt::format("<figure><figcaption>{}</figcaption>\n{}</figure>\n", markup_text(caption), svg_of(chart));
}

std::string line_text(const std::optional<double>& pps, const SizeSearches& size) {
  return pps ? number_text(line_bps(*pps, size.line_bytes), "bit/s", 4) : "none";
}

std::string width_text(const std::optional<double>& width) { return width ? percent_text(*width) : "none"; }

std::string overview(const SearchReport& report) {
  const std::vector<GoalRow> rows = goal_rows(report);
  if (rows.empty()) return "<p>No search began.</p>\n";
  const bool repeated = std::ranges::any_of(report.sizes, [](const SizeSearches& s) { return s.searches.size() > 1; });
  HtmlTable table({{"Frame size", Align::name},
                   {"Goal", Align::name},
                   {"Conditional throughput"},
                   {"On the line"},
                   {"Relevant lower bound"},
                   {"Relevant upper bound"},
                   {"Generator's ceiling"},
                   {"Result", Align::text}});
  for (const GoalRow& row : rows)
    table.add({size_text(row.size->size), row.goal, pps_text(row.throughput_pps),
               line_text(row.throughput_pps, *row.size), bound_text(row.lower_pps, row.lower_so_far_pps),
               bound_text(row.upper_pps, row.upper_so_far_pps), pps_text(row.size->ceiling_pps), row.judgement});
  std::string html = table.html();
  if (repeated)
    html +=
        "<p class=\"dim\">For several searches: medians of the regular results, or of all results if none is regular. "
        "Each search is below.</p>\n";
  if (std::ranges::any_of(rows, &GoalRow::is_generators_limit))
    html += fmt::format(
        "<p class=\"warning\">\u201cThe generator's limit\u201d means that the result is above {:.0f} % of what the "
        "generator can send, or that most frames lost at the upper bound were not sent in time: the device under test "
        "may reach more.</p>\n",
        100 * kNearCeiling);
  if (report.sizes.size() > 1)
    html += fmt::format("<div class=\"charts\">{}{}</div>\n",
                        figure(sizes_chart(report, SizeUnit::frames), "Throughput in frames; bars: relevant bounds"),
                        figure(sizes_chart(report, SizeUnit::line_bits),
                               "The same in bits on the line, with FCS, preamble and gap of each frame"));
  return html;
}

std::string goals_table(std::span<const SearchGoal> goals) {
  HtmlTable table({{"Goal", Align::name},
                   {"Loss ratio"},
                   {"Exceed ratio"},
                   {"Initial trial duration"},
                   {"Final trial duration"},
                   {"Duration sum"},
                   {"Width"}});
  for (const SearchGoal& goal : goals)
    table.add({goal.name, percent_text(goal.loss_ratio), percent_text(goal.exceed_ratio),
               seconds_text(goal.initial_trial_s), seconds_text(goal.final_trial_s), seconds_text(goal.duration_sum_s),
               percent_text(goal.width)});
  return table.html();
}

std::string results_table(const SearchResult& search, const SizeSearches& size) {
  HtmlTable table({{"Goal", Align::name},
                   {"Conditional throughput"},
                   {"On the line"},
                   {"Relevant lower bound"},
                   {"Relevant upper bound"},
                   {"Apart"},
                   {"Result", Align::text}});
  for (const GoalResult& result : search.goals)
    table.add({result.goal.name, pps_text(result.conditional_throughput_pps),
               line_text(result.conditional_throughput_pps, size),
               bound_text(load_of(result.relevant_lower_bound), result.lower_so_far_pps),
               bound_text(load_of(result.relevant_upper_bound), result.upper_so_far_pps), width_text(width_of(result)),
               judgement(result, size.ceiling_pps)});
  return table.html();
}

std::string trials_table(const SearchResult& search) {
  HtmlTable table({{"Trial"},
                   {"Load (frames/s)"},
                   {"Duration"},
                   {"Offered"},
                   {"Sent"},
                   {"Not sent in time"},
                   {"Left late"},
                   {"Received"},
                   {"Lost"},
                   {"Runs"},
                   {"Device's seed"}});
  for (std::size_t i = 0; i < search.trials.size(); ++i) {
    const TrialOutcome& trial = search.trials[i];
    table.add({fmt::format("{}", i + 1), fmt::format("{:.1f}", trial.load_pps), seconds_text(trial.duration_s),
               fmt::format("{}", trial.offered), fmt::format("{}", trial.sent), fmt::format("{}", trial.unsent),
               fmt::format("{}", trial.host.late), fmt::format("{}", trial.received), percent_text(trial.loss_ratio()),
               fmt::format("{}", trial.runs), trial.seed ? fmt::format("{}", *trial.seed) : "none"});
  }
  return fmt::format("<details><summary>All {} trials</summary>\n{}</details>\n", search.trials.size(), table.html());
}

std::string goal_charts(const SearchResult& search, std::size_t goal, double ceiling_pps) {
  std::string charts =
      figure(trials_chart(search, goal, ceiling_pps), "Trials in order, and the bounds known after each");
  if (const auto near = last_trials_chart(search, goal)) charts += figure(*near, "The same near the bounds");
  charts += figure(loss_chart(search, goal, ceiling_pps), "Loss of each trial over its load");
  if (const auto near = last_loss_chart(search, goal)) charts += figure(*near, "The same near the bounds");
  return fmt::format("<h3>Goal {}</h3>\n<div class=\"charts\">{}</div>\n", markup_text(search.goals[goal].goal.name),
                     charts);
}

std::string search_section(const SizeSearches& size, std::size_t number) {
  const SearchResult& search = size.searches[number];
  std::string html =
      fmt::format("<details{}><summary>Search {}: {} trials, {:.1f} s in total, took {:.1f} s; {}{}</summary>\n{}",
                  number == 0 ? " open=\"open\"" : "", number + 1, search.trials.size(), search.trial_s, search.took_s,
                  text_of(search.end), markup_text(repeated_text(search)), results_table(search, size));
  for (std::size_t goal = 0; goal < search.goals.size() && number < kSearchesDrawn; ++goal)
    html += goal_charts(search, goal, size.ceiling_pps);
  return html + trials_table(search) + "</details>\n";
}

std::string repeats_section(const SizeSearches& size) {
  if (size.searches.size() < 2) return "";
  HtmlTable table({{"Goal", Align::name},
                   {"Regular results", Align::name},
                   {"Median"},
                   {"Mean"},
                   {"95 % interval of the mean"},
                   {"Coefficient of variation"},
                   {"Regular"},
                   {"Irregular"}});
  std::string charts;
  const auto repeats = repeat_statistics(size.searches);
  for (std::size_t goal = 0; goal < repeats.size(); ++goal) {
    const RepeatStatistics& all = repeats[goal];
    for (const auto& [what, spread] : {std::pair{"conditional throughput", &all.conditional_throughput_pps},
                                       std::pair{"relevant lower bound", &all.relevant_lower_bound_pps},
                                       std::pair{"relevant upper bound", &all.relevant_upper_bound_pps}}) {
      const std::optional<Spread>& s = *spread;
      table.add({all.goal, what, pps_text(s ? std::optional(s->median) : std::nullopt),
                 pps_text(s ? std::optional(s->mean) : std::nullopt),
                 s && s->half_width ? "\u00B1 " + pps_text(s->half_width) : "none",
                 s && s->variation ? percent_text(*s->variation) : "none", fmt::format("{}", all.regular),
                 fmt::format("{}", all.irregular)});
    }
    charts += figure(repeats_chart(size, goal), fmt::format("Goal {}: results of each search", all.goal));
  }
  return fmt::format("<h3>Over {} searches</h3>\n{}<div class=\"charts\">{}</div>\n", size.searches.size(),
                     table.html(), charts);
}

std::string size_section(const SizeSearches& size) {
  std::string html = fmt::format(
      "<section><h2>Frame size: {}</h2>\n<p>The generator sends at most {}. Loads from {} (min load) to {} (max "
      "load).</p>\n{}",
      markup_text(size_text(size.size)), pps_text(size.ceiling_pps), pps_text(size.min_load_pps),
      pps_text(size.max_load_pps), repeats_section(size));
  for (std::size_t i = 0; i < size.searches.size(); ++i) html += search_section(size, i);
  return html + "</section>\n";
}

std::string head(const SearchReport& report) {
  const std::string title = markup_text("Highest rate of " + report.device);
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\"><head><meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>{0}</title>\n"
      "<style>\n{1}{2}</style></head>\n<body><h1>{0}</h1>\n",
      title, kStyle, chart_style());
}

std::string about(const SearchReport& report) {
  std::vector<Fact> facts{
      {"device", report.device},   {"traffic", report.traffic},
      {"seed", seed_text(report)}, {"method", fmt::format("{}: {}", report.method, report.method_summary)},
      {"began", report.began},     {"program", "parshall " + report.version}};
  std::string html = facts_table(facts);
  if (report.interrupted) html += "<p class=\"warning\">Interrupted before the end.</p>\n";
  if (!report.failure.empty())
    html += fmt::format("<p class=\"warning\">Failed: {}. The results until then are below.</p>\n",
                        markup_text(report.failure));
  return html;
}

std::string circumstances(const SearchReport& report) {
  std::vector<Fact> machine = report.machine;
  if (report.processors) {
    machine.emplace_back("busy during the searches", percent_text(report.processors->busy, 3));
    machine.emplace_back("stolen by other guests", percent_text(report.processors->stolen, 3));
  }
  return fmt::format(
      "<section><h2>Terms</h2>\n"
      "{}</section>\n"
      "<section><h2>Phases of a trial in RFC 2544, section 23, and here</h2>\n"
      "{}</section>\n"
      "<section><h2>The machine that ran the test</h2>\n"
      "{}</section>\n"
      "<section><h2>The command</h2>\n"
      "<p><code>{}</code></p></section>\n",
      facts_table(search_terms(report)), facts_table(report.phases), facts_table(machine), markup_text(report.command));
}

}  // namespace

std::string search_html(const SearchReport& report) {
  std::string html = head(report) + about(report);
  html += "<section><h2>Results</h2>\n" + overview(report) + "</section>\n";
  html += "<section><h2>Goals</h2>\n" + goals_table(report.goals) + "</section>\n";
  for (const SizeSearches& size : report.sizes) html += size_section(size);
  return html + circumstances(report) + "</body></html>\n";
}

}  // namespace parshall::tester
