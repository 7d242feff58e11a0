// SPDX-License-Identifier: Apache-2.0
#include "cli/search_report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "pipeline/report/format.hpp"
#include "tester/search/repeat_statistics.hpp"

namespace parshall::cli {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

std::string pps_text(const std::optional<double>& pps) { return pps ? scaled_text(*pps, "pps") : "none"; }

std::optional<double> load_of(const std::optional<tester::RelevantBound>& bound) {
  return bound ? std::optional(bound->load_pps) : std::nullopt;
}

Json goal_json(const tester::SearchGoal& goal) {
  return {{"name", goal.name},
          {"loss_ratio", goal.loss_ratio},
          {"exceed_ratio", goal.exceed_ratio},
          {"final_trial_s", goal.final_trial_s},
          {"duration_sum_s", goal.duration_sum_s},
          {"initial_trial_s", goal.initial_trial_s},
          {"width", goal.width}};
}

Json trial_json(const tester::TrialOutcome& trial) {
  return {{"load_pps", trial.load_pps}, {"duration_s", trial.duration_s}, {"offered", trial.offered},
          {"sent", trial.sent},         {"received", trial.received},     {"loss_ratio", trial.loss_ratio()}};
}

Json search_json(const tester::SearchResult& search) {
  Json goals = Json::array(), trials = Json::array();
  for (const tester::GoalResult& goal : search.goals)
    goals.push_back({{"goal", goal_json(goal.goal)},
                     {"relevant_lower_bound_pps", or_null(load_of(goal.relevant_lower_bound))},
                     {"relevant_upper_bound_pps", or_null(load_of(goal.relevant_upper_bound))},
                     {"conditional_throughput_pps", or_null(goal.conditional_throughput_pps)},
                     {"irregular", tester::text_of(goal.irregular)}});
  for (const tester::TrialOutcome& trial : search.trials) trials.push_back(trial_json(trial));
  return {{"end", tester::text_of(search.end)}, {"trial_s", search.trial_s}, {"goals", goals}, {"trials", trials}};
}

}  // namespace

std::string search_text(const SearchSummary& summary) {
  std::string text = fmt::format("device      {}\ntraffic     {}\n", summary.device, summary.traffic);
  text += fmt::format("generator   sends {} at most; {} s are waited for frames after each trial\n",
                      scaled_text(summary.generator_pps, "pps"), summary.settle_s);
  if (summary.interrupted) text += "interrupted before its end\n";
  for (const tester::SearchResult& search : summary.searches) {
    text += fmt::format("\n{} trials of {:.1f} s in all: {}\n", search.trials.size(), search.trial_s,
                        tester::text_of(search.end));
    for (const tester::GoalResult& goal : search.goals) {
      text += fmt::format("{:<11} {} (conditional throughput); at most {} % lost\n", goal.goal.name,
                          pps_text(goal.conditional_throughput_pps), 100 * goal.goal.loss_ratio);
      text += fmt::format("            relevant lower bound {}, relevant upper bound {}",
                          pps_text(load_of(goal.relevant_lower_bound)), pps_text(load_of(goal.relevant_upper_bound)));
      const std::string_view irregular = tester::text_of(goal.irregular);
      text += goal.irregular == tester::Irregular::no ? "\n" : fmt::format("; irregular: {}\n", irregular);
      text += fmt::format(
          "            trials of {} to {} s, {} s in all at a load, of which {} % may lose more; width {} %\n",
          goal.goal.initial_trial_s, goal.goal.final_trial_s, goal.goal.duration_sum_s, 100 * goal.goal.exceed_ratio,
          100 * goal.goal.width);
    }
  }
  return text + "command     " + summary.command + "\n";
}

std::string search_json(const SearchSummary& summary) {
  Json searches = Json::array();
  for (const tester::SearchResult& search : summary.searches) searches.push_back(search_json(search));
  const Json document = {{"command", summary.command},
                         {"device", summary.device},
                         {"traffic", summary.traffic},
                         {"method", summary.method},
                         {"generator_pps", summary.generator_pps},
                         {"settle_s", summary.settle_s},
                         {"interrupted", summary.interrupted},
                         {"searches", searches}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace parshall::cli
