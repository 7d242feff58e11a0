// SPDX-License-Identifier: Apache-2.0
#include "tester/commands/search_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>
#include <tuple>

#include "base/parse.hpp"
#include "tester/search_report/search_report.hpp"
#include "traffic/send_schedule.hpp"
#include "traffic/traffic_text.hpp"

namespace parshall::cli {
namespace {

/// Ethernet frame sizes of RFC 2544, section 9.1.
constexpr std::array kRfc2544Sizes{"64", "128", "256", "512", "1024", "1280", "1518"};

std::vector<std::string> sizes_of(const std::vector<std::string>& asked) {
  std::vector<std::string> sizes;
  for (const std::string& size : asked) {
    if (size == "rfc2544") sizes.insert(sizes.end(), kRfc2544Sizes.begin(), kRfc2544Sizes.end());
    if (size != "rfc2544") sizes.push_back(size);
  }
  return sizes;
}

/// Returns the value of a setting; nullopt if it is not set.
std::optional<std::string> setting_of(std::string_view traffic, std::string_view name) {
  for (const std::string_view item : items_of_traffic(traffic))
    if (item.starts_with(name) && item.substr(name.size()).starts_with('='))
      return std::string(item.substr(name.size() + 1));
  return std::nullopt;
}

Result<std::vector<SizePlan>> plan_sizes(const SearchOptions& o) {
  std::vector<SizePlan> plans;
  if (o.sizes.empty()) {
    auto traffic = plan_traffic(o.traffic);
    if (!traffic) return traffic.error();
    plans.push_back({.size = setting_of(plan_text(o.traffic), "size").value_or(""), .traffic = *std::move(traffic)});
    return plans;
  }
  if (setting_of(o.traffic.traffic, "size")) return Error{"--sizes and size= in -g exclude each other: leave one out"};
  for (const std::string& size : sizes_of(o.sizes)) {
    if (std::ranges::find(plans, size, &SizePlan::size) != plans.end())
      return Error{fmt::format("--sizes: {} is given twice: leave one out", size)};
    auto traffic = plan_traffic({changed_traffic(o.traffic.traffic, "size=" + size)});
    if (!traffic) return Error{fmt::format("--sizes {}: {}", size, traffic.error().message)};
    plans.push_back({.size = size, .traffic = *std::move(traffic)});
  }
  return plans;
}

Result<std::vector<tester::SearchGoal>> plan_goals(const SearchOptions& o) {
  std::vector<tester::SearchGoal> goals;
  std::vector<std::string> presets = o.goals;
  if (presets.empty() && o.own_goals.empty()) presets = {"ndr", "pdr"};
  const auto take = [&](Result<tester::SearchGoal> goal) -> std::optional<Error> {
    if (!goal) return goal.error();
    if (o.width) goal->width = *o.width / 100;
    goals.push_back(*std::move(goal));
    return std::nullopt;
  };
  for (const std::string& name : presets)
    if (const auto error = take(tester::preset_goal(name))) return *error;
  for (const std::string& text : o.own_goals)
    if (const auto error = take(tester::parse_goal(text))) return *error;
  return goals;
}

/// Returns what is wrong with the order, independent of the loads measured.
std::optional<Error> problem_of(const SearchOrder& order) {
  constexpr double kLeastPps = 1, kMostPps = 1e12;
  tester::SearchPlan plan = order.search;
  if (plan.max_load_pps == 0) plan.max_load_pps = kMostPps;
  if (plan.min_load_pps == 0) plan.min_load_pps = std::min(kLeastPps, plan.max_load_pps / 2);
  const auto search = order.method->make(std::move(plan));
  return search ? std::nullopt : std::optional(search.error());
}

std::string text_of(const std::vector<SizePlan>& sizes, const SearchOptions& o) {
  if (o.sizes.empty()) return plan_text(o.traffic);
  std::vector<std::string> others;
  for (const SizePlan& plan : std::span(sizes).subspan(1)) others.push_back(plan.size);
  const std::string first = plan_text({changed_traffic(o.traffic.traffic, "size=" + sizes.front().size)});
  return others.empty() ? first : fmt::format("{}, then of size {}", first, fmt::join(others, ", "));
}

}  // namespace

Result<SearchOrder> order_search(const SearchOptions& o) {
  SearchOrder order;
  if (!o.monitor)
    if (const auto error = conflict_of(o.ends)) return *error;
  if (o.monitor && !(o.ends.send_by.empty() && o.ends.receive_by.empty() && o.ends.through.empty()))
    return Error{"--monitor reads from its own ring: leave out -i, --receive-on and --through"};
  auto sizes = plan_sizes(o);
  if (!sizes) return sizes.error();
  order.sizes = *std::move(sizes);
  order.traffic = text_of(order.sizes, o);
  auto goals = plan_goals(o);
  if (!goals) return goals.error();
  order.search.goals = *std::move(goals);
  order.search.budget.trials = o.trials;
  order.method = &*std::ranges::find(tester::search_methods(), o.method, &tester::SearchMethod::name);
  for (const auto& [option, text, into] : {std::tuple{"--min", &o.least, &order.search.min_load_pps},
                                           std::tuple{"--max", &o.most, &order.search.max_load_pps}}) {
    if (text->empty()) continue;
    const auto rate = SendRate::parse(*text);
    if (!rate || rate->unit != SendRate::Unit::packets)
      return Error{fmt::format("{} {}: give frames per second, such as 100kpps", option, *text)};
    *into = rate->value;
  }
  for (const auto& [option, text, into] :
       {std::tuple{"--settle", &o.settle, &order.settle_ns}, std::tuple{"--learn", &o.learn, &order.learn_ns}}) {
    const auto value = parse_duration_ns(*text);
    if (!value) return Error{fmt::format("{} {}: give a time, such as 1s", option, *text)};
    *into = *value;
  }
  if (!o.max_time.empty()) {
    const auto value = parse_duration_ns(o.max_time);
    if (!value || *value == 0) return Error{fmt::format("--max-time {}: give a time, such as 10m", o.max_time)};
    order.most_ns = *value;
  }
  if (o.monitor) {
    auto monitor = plan_monitor(*o.monitor);
    if (!monitor) return monitor.error();
    order.monitor = *std::move(monitor);
    order.learn_ns = 0;  // a ring forwards everything
  }
  if (const auto problem = problem_of(order)) return *problem;
  return order;
}

void declare(Command command, SearchOptions& o) {
  declare(command, o.ends);
  command
      .add_option("--monitor", o.monitor,
                  "Test parshall watch with these options instead of a device; it reads packets from memory through a "
                  "ring (of --descriptors packets)")
      ->group("Device");
  declare(command, o.traffic);
  declare_seed(command, o.seed);
  command
      .add_option("--sizes", o.sizes,
                  "Frame sizes to search with, one after the other, each as for size= of -g (64,512,imix); rfc2544: "
                  "the seven sizes of RFC 2544, 64 to 1518")
      ->delimiter(',')
      ->group("Traffic");
  std::vector<std::string> methods, formats;
  for (const tester::SearchMethod& method : tester::search_methods()) methods.emplace_back(method.name);
  for (const tester::SearchFormat& format : tester::search_formats()) formats.emplace_back(format.name);
  command
      .add_option("--goals", o.goals,
                  "Goals to search for at the same time (default: ndr,pdr, without --goal) (parshall list goals)")
      ->delimiter(',')
      ->group("Search");
  command
      .add_option("--goal", o.own_goals,
                  "Additional goal of your own: name=mine,loss=0.1%,exceed=50%,trial=1s,sum=21s,width=0.5%,initial=1s")
      ->allow_extra_args(false)
      ->group("Search");
  command.add_option("--method", o.method, "mlr: RFC 9971, several goals at once; binary: RFC 2544, one goal")
      ->check(among(methods))
      ->capture_default_str()
      ->group("Search");
  command.add_option("--min", o.least, "Smallest load (default: a thousandth of the largest)")->group("Search");
  command.add_option("--max", o.most, "Largest load (default: the rate the generator can send)")->group("Search");
  command.add_option("--width", o.width, "Final distance of the bounds in percent, instead of the goals' width")
      ->check(in_range(0.01, 50.0))
      ->group("Search");
  command.add_option("--trials", o.trials, "End a search after this number of trials, with the results so far")
      ->check(positive())
      ->group("Search");
  command
      .add_option("--max-time", o.max_time,
                  "End after this time, with the results so far; no trial begins that would take longer")
      ->takes("TIME")
      ->group("Search");
  command.add_option("--repeat", o.repeat, "Number of searches with each size, one after the other")
      ->check(in_range(std::size_t{1}, std::size_t{10'000}))
      ->capture_default_str()
      ->group("Search");
  command.add_option("--settle", o.settle, "Time to wait for frames after each trial")
      ->capture_default_str()
      ->group("Search");
  command.add_option("--learn", o.learn, "Longest time to test whether the device forwards frames; 0: do not test")
      ->capture_default_str()
      ->group("Search");
  command.add_option("--format", o.format, "text, json, or html: a page with charts")
      ->check(among(formats))
      ->capture_default_str()
      ->group("Report");
  command.add_option("-o,--output", o.output, "File for the report")->capture_default_str()->group("Report");
  command.add_flag("-q,--quiet", o.quiet, "Print only errors")->group("Report");
}

}  // namespace parshall::cli
