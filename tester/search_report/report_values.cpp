// SPDX-License-Identifier: Apache-2.0
#include "tester/search_report/report_values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tester/chart/number_text.hpp"

namespace parshall::tester {

std::optional<double> load_of(const std::optional<RelevantBound>& bound) {
  return bound ? std::optional(bound->load_pps) : std::nullopt;
}

std::string pps_text(const std::optional<double>& pps) { return pps ? number_text(*pps, "pps") : "none"; }

std::string bound_text(const std::optional<double>& bound_pps, const std::optional<double>& so_far_pps) {
  return !bound_pps && so_far_pps ? pps_text(so_far_pps) + " so far" : pps_text(bound_pps);
}

double line_bps(double pps, double line_bytes) noexcept { return pps * line_bytes * 8; }

std::string seed_text(const SearchReport& report) {
  const bool draws = std::ranges::any_of(report.sizes, [](const SizeSearches& size) {
    return std::ranges::any_of(size.searches, [](const SearchResult& search) {
      return std::ranges::any_of(search.trials, [](const TrialOutcome& trial) { return trial.seed.has_value(); });
    });
  });
  return fmt::format("{} (to repeat: --seed){}", report.seed,
                     draws ? "; the device has another in each trial (see json, html)" : "");
}

std::string repeated_text(const SearchResult& search) {
  if (search.repeated == 0) return "";
  return fmt::format(
      "; {} more were run again and are discarded, because the host may have caused their losses (see json)",
      search.repeated);
}

std::string size_text(const std::string& size) {
  return size.find_first_not_of("0123456789") == std::string::npos ? size + " bytes" : size;
}

std::optional<double> width_of(const GoalResult& result) noexcept {
  const auto &lower = result.relevant_lower_bound, &upper = result.relevant_upper_bound;
  if (!lower || !upper) return std::nullopt;
  return (upper->load_pps - lower->load_pps) / upper->load_pps;
}

bool is_generators_limit(const GoalResult& result, double ceiling_pps) noexcept {
  if (result.relevant_lower_bound && result.relevant_lower_bound->load_pps >= kNearCeiling * ceiling_pps) return true;
  std::uint64_t expected = 0, received = 0, unsent = 0;
  if (result.relevant_upper_bound)
    for (const TrialOutcome& trial : result.relevant_upper_bound->trials) {
      expected += std::max(trial.offered, trial.sent);
      received += trial.received;
      unsent += trial.unsent;
    }
  return expected > received && 2 * unsent >= expected - received;
}

std::string judgement(const GoalResult& result, double ceiling_pps) {
  std::string text = result.irregular == Irregular::no ? "regular" : fmt::format("irregular: {}", reasons_of(result));
  if (is_generators_limit(result, ceiling_pps)) text += "; the generator's limit";
  return text;
}

std::vector<Fact> search_terms(const SearchReport& report) {
  return {
      {"load", "intended frames per second of the sending interface, evenly spaced, in one direction"},
      {"loss ratio",
       "share of the intended frames that were not sent in time, or not received before the end of the wait after the "
       "trial"},
      {"loss by the host",
       fmt::format(
           "a loss that is no larger than the number of frames that left over {} ms late, were not sent, arrived at a "
           "full receiver, or were due in stolen time. If such losses decide on a goal, the trial runs again, and the "
           "run with the fewest such frames counts. If a bound depends on such trials, the result is irregular",
           kLateNs / 1'000'000)},
      {"received", report.received},
      {"effective duration", "intended duration of a trial, without waits"},
      {"width", "distance between the relevant bounds, relative to the upper one"},
      {"line rate", "bits of the frames with FCS, preamble and gap"},
  };
}

std::span<const SearchFormat> search_formats() noexcept {
  static constexpr SearchFormat kFormats[] = {{"text", search_text}, {"json", search_json}, {"html", search_html}};
  return kFormats;
}

namespace {

/// Returns why results are irregular, each reason once.
std::string reasons(const SizeSearches& size, std::size_t goal) {
  std::vector<std::string_view> all;
  const auto add = [&](Irregular irregular) {
    const std::string_view reason = text_of(irregular);
    if (irregular != Irregular::no && std::ranges::find(all, reason) == all.end()) all.push_back(reason);
  };
  for (const SearchResult& search : size.searches) {
    add(search.goals[goal].irregular);
    std::ranges::for_each(search.goals[goal].further, add);
  }
  return fmt::format("{}", fmt::join(all, "; "));
}

/// Returns the median of a value over the regular results, or over the irregular ones.
template <class Value>
std::optional<double> median_of(const SizeSearches& size, std::size_t goal, bool regular, Value value) {
  std::vector<double> values;
  for (const SearchResult& search : size.searches) {
    const GoalResult& result = search.goals[goal];
    if (const std::optional<double> pps = value(result); pps && (result.irregular == Irregular::no) == regular)
      values.push_back(*pps);
  }
  const auto spread = spread_of(values);
  return spread ? std::optional(spread->median) : std::nullopt;
}

GoalRow row_of(const SizeSearches& size, std::size_t goal, const RepeatStatistics& repeats) {
  GoalRow row{.size = &size, .goal = repeats.goal, .is_regular = repeats.regular > 0};
  const auto median = [&](auto value) { return median_of(size, goal, row.is_regular, value); };
  row.throughput_pps = median([](const GoalResult& result) { return result.conditional_throughput_pps; });
  row.lower_pps = median([](const GoalResult& result) { return load_of(result.relevant_lower_bound); });
  row.upper_pps = median([](const GoalResult& result) { return load_of(result.relevant_upper_bound); });
  row.lower_so_far_pps = median([](const GoalResult& result) { return result.lower_so_far_pps; });
  row.upper_so_far_pps = median([](const GoalResult& result) { return result.upper_so_far_pps; });
  row.is_generators_limit = std::ranges::any_of(size.searches, [&](const SearchResult& search) {
    return is_generators_limit(search.goals[goal], size.ceiling_pps);
  });
  row.judgement =
      size.searches.size() == 1
          ? judgement(size.searches.front().goals[goal], size.ceiling_pps)
          : fmt::format("{} of {} searches regular{}{}{}", repeats.regular, repeats.regular + repeats.irregular,
                        repeats.irregular > 0 ? ", others irregular: " : "", reasons(size, goal),
                        row.is_generators_limit ? "; the generator's limit" : "");
  return row;
}

}  // namespace

std::vector<GoalRow> goal_rows(const SearchReport& report) {
  std::vector<GoalRow> rows;
  for (const SizeSearches& size : report.sizes) {
    const auto repeats = repeat_statistics(size.searches);
    for (std::size_t goal = 0; goal < repeats.size(); ++goal) rows.push_back(row_of(size, goal, repeats[goal]));
  }
  return rows;
}

}  // namespace parshall::tester
