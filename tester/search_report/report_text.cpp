// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "base/counted.hpp"
#include "tester/chart/number_text.hpp"
#include "tester/search_report/report_values.hpp"

namespace parshall::tester {
namespace {

std::string line_text(double pps, const SizeSearches& size) {
  return number_text(line_bps(pps, size.line_bytes), "bit/s", 4);
}

void write_goals(std::string& to, std::span<const SearchGoal> goals) {
  for (const SearchGoal& goal : goals)
    fmt::format_to(std::back_inserter(to),
                   "goal        {}: loss ratio {}; trials of {} (initial) to {} (final), {} in total per load "
                   "(duration sum); {} of them may lose more (exceed ratio); width {}\n",
                   goal.name, percent_text(goal.loss_ratio), seconds_text(goal.initial_trial_s),
                   seconds_text(goal.final_trial_s), seconds_text(goal.duration_sum_s), percent_text(goal.exceed_ratio),
                   percent_text(goal.width));
}

/// Writes a table with columns as wide as their widest cells.
void write_table(std::string& to, std::span<const GoalRow> rows) {
  using Cells = std::array<std::string, 7>;
  std::vector<Cells> lines{{"size", "goal", "throughput", "on the line", "lower bound", "upper bound", "result"}};
  for (const GoalRow& row : rows)
    lines.push_back({size_text(row.size->size), row.goal, pps_text(row.throughput_pps),
                     row.throughput_pps ? line_text(*row.throughput_pps, *row.size) : "none",
                     bound_text(row.lower_pps, row.lower_so_far_pps), bound_text(row.upper_pps, row.upper_so_far_pps),
                     row.judgement});
  std::array<std::size_t, 7> widths{};
  for (const Cells& line : lines)
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  to += "\n";
  for (const Cells& line : lines) {
    for (std::size_t i = 0; i + 1 < line.size(); ++i)
      to += i < 2 ? fmt::format("{:<{}}  ", line[i], widths[i]) : fmt::format("{:>{}}  ", line[i], widths[i]);
    to += line.back() + "\n";
  }
}

void write_result(std::string& to, const GoalResult& result, const SizeSearches& size) {
  const auto width = width_of(result);
  fmt::format_to(std::back_inserter(to), "{:<11} {} (conditional throughput){}; {}\n", result.goal.name,
                 pps_text(result.conditional_throughput_pps),
                 result.conditional_throughput_pps
                     ? fmt::format(", {} on the line", line_text(*result.conditional_throughput_pps, size))
                     : "",
                 judgement(result, size.ceiling_pps));
  fmt::format_to(std::back_inserter(to), "            relevant lower bound {}, relevant upper bound {}{}\n",
                 bound_text(load_of(result.relevant_lower_bound), result.lower_so_far_pps),
                 bound_text(load_of(result.relevant_upper_bound), result.upper_so_far_pps),
                 width ? fmt::format(", {} apart", percent_text(*width)) : "");
}

std::string spread_text(const std::optional<Spread>& spread) {
  if (!spread) return "none";
  std::string text = fmt::format("median {}, mean {}", pps_text(spread->median), pps_text(spread->mean));
  if (spread->half_width) text += fmt::format(" +- {} (95 %)", pps_text(spread->half_width));
  if (spread->variation) text += fmt::format(", coefficient of variation {}", percent_text(*spread->variation));
  return text;
}

void write_repeats(std::string& to, std::span<const SearchResult> searches) {
  if (searches.size() < 2) return;
  fmt::format_to(std::back_inserter(to), "regular results of {} searches\n", searches.size());
  for (const RepeatStatistics& goal : repeat_statistics(searches))
    fmt::format_to(std::back_inserter(to),
                   "{:<11} {} regular, {} irregular\n            throughput {}\n            lower bound {}\n"
                   "            upper bound {}\n",
                   goal.goal, goal.regular, goal.irregular, spread_text(goal.conditional_throughput_pps),
                   spread_text(goal.relevant_lower_bound_pps), spread_text(goal.relevant_upper_bound_pps));
}

void write_size(std::string& to, const SizeSearches& size) {
  fmt::format_to(std::back_inserter(to), "\nframe size  {}; loads from {} (min load) to {} (max load)\n",
                 size_text(size.size), pps_text(size.min_load_pps), pps_text(size.max_load_pps));
  fmt::format_to(std::back_inserter(to), "generator   sends at most {}\n", pps_text(size.ceiling_pps));
  for (std::size_t i = 0; i < size.searches.size(); ++i) {
    const SearchResult& search = size.searches[i];
    fmt::format_to(std::back_inserter(to), "search {:<4} {}, {:.1f} s in total, took {:.1f} s: {}{}\n", i + 1,
                   counted(search.trials.size(), "trial"), search.trial_s, search.took_s, text_of(search.end),
                   repeated_text(search));
    for (const GoalResult& result : search.goals) write_result(to, result, size);
  }
  write_repeats(to, size.searches);
}

void write_facts(std::string& to, std::string_view heading, std::span<const Fact> facts) {
  to += "\n" + std::string(heading) + "\n";
  for (const auto& [name, value] : facts) fmt::format_to(std::back_inserter(to), "  {:<24} {}\n", name, value);
}

}  // namespace

std::string search_text(const SearchReport& report) {
  std::string to = fmt::format("device      {}\ntraffic     {}\nseed        {}\nmethod      {}: {}; parshall {}; {}\n",
                               report.device, report.traffic, seed_text(report), report.method, report.method_summary,
                               report.version, report.began);
  write_goals(to, report.goals);
  if (report.interrupted) to += "interrupted before the end\n";
  if (!report.failure.empty()) to += "failed      " + report.failure + "; the results until then are below\n";
  const std::vector<GoalRow> rows = goal_rows(report);
  if (!rows.empty()) write_table(to, rows);
  for (const SizeSearches& size : report.sizes) write_size(to, size);
  write_facts(to, "terms", search_terms(report));
  write_facts(to, "phases of a trial in RFC 2544, section 23, and here", report.phases);
  write_facts(to, "machine", report.machine);
  if (report.processors)
    fmt::format_to(std::back_inserter(to), "  {:<24} busy {}, stolen by other guests {}\n", "during the searches",
                   percent_text(report.processors->busy, 3), percent_text(report.processors->stolen, 3));
  return to + "\ncommand     " + report.command + "\n";
}

}  // namespace parshall::tester
