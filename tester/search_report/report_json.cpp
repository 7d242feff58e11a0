// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "base/or_null.hpp"
#include "tester/search_report/report_values.hpp"

namespace parshall::tester {
namespace {

using Json = nlohmann::ordered_json;

Json facts_json(std::span<const Fact> facts) {
  Json object = Json::object();
  for (const auto& [name, value] : facts) object[name] = value;
  return object;
}

Json goal_json(const SearchGoal& goal) {
  return {{"name", goal.name},
          {"loss_ratio", goal.loss_ratio},
          {"exceed_ratio", goal.exceed_ratio},
          {"final_trial_s", goal.final_trial_s},
          {"duration_sum_s", goal.duration_sum_s},
          {"initial_trial_s", goal.initial_trial_s},
          {"width", goal.width}};
}

Json trial_json(const TrialOutcome& trial) {
  return {{"load_pps", trial.load_pps},
          {"duration_s", trial.duration_s},
          {"offered", trial.offered},
          {"sent", trial.sent},
          {"received", trial.received},
          {"unsent", trial.unsent},
          {"loss_ratio", trial.loss_ratio()},
          {"least_loss_ratio", trial.least_loss_ratio()},
          {"hosts_share", trial.hosts_share()},
          {"runs", trial.runs},
          {"host",
           {{"late", trial.host.late},
            {"latest_ns", trial.host.latest_ns},
            {"missed", trial.host.missed},
            {"stolen_ns", trial.host.stolen_ns}}},
          {"contradictory", trial.strays ? Json(trial.strays->contradictory) : Json(nullptr)},
          {"corrupted", trial.strays ? Json(trial.strays->corrupted) : Json(nullptr)},
          {"foreign", trial.strays ? Json(trial.strays->foreign) : Json(nullptr)},
          {"seed", or_null(trial.seed)}};
}

Json result_json(const GoalResult& goal, const SizeSearches& size) {
  const auto& throughput = goal.conditional_throughput_pps;
  return {
      {"goal", goal_json(goal.goal)},
      {"relevant_lower_bound_pps", or_null(load_of(goal.relevant_lower_bound))},
      {"relevant_upper_bound_pps", or_null(load_of(goal.relevant_upper_bound))},
      {"lower_bound_so_far_pps", or_null(goal.lower_so_far_pps)},
      {"upper_bound_so_far_pps", or_null(goal.upper_so_far_pps)},
      {"conditional_throughput_pps", or_null(throughput)},
      {"conditional_throughput_line_bps", throughput ? Json(line_bps(*throughput, size.line_bytes)) : Json(nullptr)},
      {"width", or_null(width_of(goal))},
      {"regular", goal.irregular == Irregular::no},
      {"irregular", reasons_of(goal)},
      {"generators_limit", is_generators_limit(goal, size.ceiling_pps)}};
}

Json search_json(const SearchResult& search, const SizeSearches& size) {
  Json goals = Json::array(), trials = Json::array(), discarded = Json::array();
  for (const GoalResult& goal : search.goals) goals.push_back(result_json(goal, size));
  for (const TrialOutcome& trial : search.trials) trials.push_back(trial_json(trial));
  for (const DiscardedRun& run : search.discarded) {
    discarded.push_back({{"trial", run.trial}});
    discarded.back().update(trial_json(run.outcome));
  }
  return {{"end", text_of(search.end)},
          {"repeated", search.repeated},
          {"trial_s", search.trial_s},
          {"took_s", search.took_s},
          {"goals", goals},
          {"trials", trials},
          {"discarded", discarded}};
}

Json spread_json(const std::optional<Spread>& spread) {
  if (!spread) return nullptr;
  return {{"median", spread->median},
          {"mean", spread->mean},
          {"half_width_95", or_null(spread->half_width)},
          {"variation", or_null(spread->variation)}};
}

Json repeats_json(const SizeSearches& size) {
  Json all = Json::array();
  for (const RepeatStatistics& goal : repeat_statistics(size.searches))
    all.push_back({{"goal", goal.goal},
                   {"regular", goal.regular},
                   {"irregular", goal.irregular},
                   {"conditional_throughput_pps", spread_json(goal.conditional_throughput_pps)},
                   {"relevant_lower_bound_pps", spread_json(goal.relevant_lower_bound_pps)},
                   {"relevant_upper_bound_pps", spread_json(goal.relevant_upper_bound_pps)}});
  return all;
}

Json size_json(const SizeSearches& size) {
  Json searches = Json::array();
  for (const SearchResult& search : size.searches) searches.push_back(search_json(search, size));
  return {{"size", size.size},
          {"line_bytes", size.line_bytes},
          {"generator_pps", size.ceiling_pps},
          {"min_load_pps", size.min_load_pps},
          {"max_load_pps", size.max_load_pps},
          {"repeats", repeats_json(size)},
          {"searches", searches}};
}

}  // namespace

std::string search_json(const SearchReport& report) {
  Json sizes = Json::array(), goals = Json::array();
  for (const SizeSearches& size : report.sizes) sizes.push_back(size_json(size));
  for (const SearchGoal& goal : report.goals) goals.push_back(goal_json(goal));
  Json document = {{"command", report.command},
                   {"version", report.version},
                   {"began", report.began},
                   {"device", report.device},
                   {"traffic", report.traffic},
                   {"seed", report.seed},
                   {"method", report.method},
                   {"goals", goals},
                   {"terms", facts_json(search_terms(report))},
                   {"trial_phases", facts_json(report.phases)},
                   {"machine", facts_json(report.machine)},
                   {"processors_busy", report.processors ? Json(report.processors->busy) : Json(nullptr)},
                   {"processors_stolen", report.processors ? Json(report.processors->stolen) : Json(nullptr)},
                   {"interrupted", report.interrupted},
                   {"failure", report.failure.empty() ? Json(nullptr) : Json(report.failure)},
                   {"sizes", sizes}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace parshall::tester
