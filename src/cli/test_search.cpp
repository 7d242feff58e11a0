// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "base/parse.hpp"
#include "cli/command_line.hpp"
#include "cli/device_measurer.hpp"
#include "cli/messages.hpp"
#include "cli/search_report.hpp"
#include "cli/signals.hpp"
#include "cli/test.hpp"
#include "cli/test_ends.hpp"
#include "cli/whole_file.hpp"
#include "tester/search/search_run.hpp"

namespace parshall::cli {
namespace {

constexpr const char* kName = "test search";

struct FindOptions {
  EndOptions ends;
  TestTrafficOptions traffic;
  std::vector<std::string> goals{"ndr", "pdr"};
  std::string method = "mlr", least, most, settle = "1s", learn = "10s", format = "text", output = "-";
  std::size_t repeat = 1;
  std::optional<std::size_t> trials;
  std::optional<double> width;
  bool quiet = false;
};

struct FindPlan {
  TrafficSpec traffic;
  tester::SearchPlan search;  ///< the loads are 0 where they are to be measured
  const tester::SearchMethod* method = nullptr;
  std::uint64_t settle_ns = 0, learn_ns = 0;
};

Result<FindPlan> plan(const FindOptions& o) {
  FindPlan plan;
  auto traffic = plan_traffic(o.traffic);
  if (!traffic) return traffic.error();
  plan.traffic = *std::move(traffic);
  for (const std::string& name : o.goals) {
    auto goal = tester::preset_goal(name);
    if (!goal) return goal.error();
    if (o.width) goal->width = *o.width / 100;
    plan.search.goals.push_back(*std::move(goal));
  }
  plan.search.budget.trials = o.trials;
  plan.method = &*std::ranges::find(tester::search_methods(), o.method, &tester::SearchMethod::name);
  for (const auto& [option, text, into] : {std::tuple{"--min", &o.least, &plan.search.min_load_pps},
                                           std::tuple{"--max", &o.most, &plan.search.max_load_pps}}) {
    if (text->empty()) continue;
    const auto rate = SendRate::parse(*text);
    if (!rate || rate->unit != SendRate::Unit::packets)
      return Error{fmt::format("{} {}: frames per second, such as 100kpps", option, *text)};
    *into = rate->value;
  }
  for (const auto& [option, text, into] :
       {std::tuple{"--settle", &o.settle, &plan.settle_ns}, std::tuple{"--learn", &o.learn, &plan.learn_ns}}) {
    const auto value = parse_duration_ns(*text);
    if (!value) return Error{fmt::format("{} {}: a time, such as 1s", option, *text)};
    *into = *value;
  }
  return plan;
}

int fail(const Error& error, ExitStatus status) {
  say(kName, error.message);
  return status;
}

int run(const FindOptions& options) {
  auto planned = plan(options);
  if (!planned) return fail(planned.error(), kUsage);
  if (const auto error = prepare_for(options.output)) return fail(*error, kFailed);
  const auto frames = make_frames(planned->traffic);
  if (!frames) return fail(frames.error(), kFailed);
  catch_signals();
  auto test = prepare_test(options.ends, std::span(&*frames, 1),
                           {.command = kName, .learn_ns = planned->learn_ns, .quiet = options.quiet});
  if (!test) return fail(test.error(), kFailed);

  DeviceMeasurer measurer(*frames, *test, planned->settle_ns);
  const auto ceiling_pps = measurer.ceiling_pps();
  if (!ceiling_pps) return fail(ceiling_pps.error(), kFailed);
  SearchSummary summary{.command = command_line(),
                        .device = test->description(),
                        .traffic = plan_text(options.traffic),
                        .method = options.method,
                        .generator_pps = *ceiling_pps,
                        .settle_s = static_cast<double>(planned->settle_ns) * 1e-9,
                        .searches = {}};
  tester::SearchPlan& plan = planned->search;
  if (plan.max_load_pps == 0) plan.max_load_pps = summary.generator_pps;
  if (plan.min_load_pps == 0) plan.min_load_pps = plan.max_load_pps / 1000;
  if (plan.max_load_pps > 0.9 * summary.generator_pps)
    say(kName, fmt::format("the generator itself sends {:.0f} pps: what is found near that is its limit",
                           summary.generator_pps));
  if (const auto problem = tester::problem_of(plan)) return fail(*problem, kUsage);
  while (summary.searches.size() < options.repeat && !stop_asked()) {
    auto search = planned->method->make(plan);
    if (!search) return fail(search.error(), kUsage);
    const auto told = [&](const tester::TrialOutcome& outcome) {
      if (!options.quiet)
        say(kName, fmt::format("{:.0f} pps for {} s: {} of {} came", outcome.load_pps, outcome.duration_s,
                               outcome.received, outcome.offered));
    };
    const auto run = tester::run_search(**search, measurer, told, stop_asked);
    if (run.failure) return fail(*run.failure, kFailed);
    summary.searches.push_back(run.result);
  }
  summary.interrupted = stop_asked();
  const std::string text = options.format == "json" ? search_json(summary) : search_text(summary);
  if (const auto error = write_whole(options.output, text)) return fail(*error, kFailed);
  return kDone;
}

}  // namespace

void add_test_search(CLI::App& test, int& status) {
  CLI::App* command =
      test.add_subcommand("search", "Find the highest rate at which a device loses no more than it may");
  command->footer(
      "Goals: rfc2544 (60 s, nothing lost), tst009, ndr and pdr (0 and 0.5 % lost, half of 21 s of trials may lose "
      "more).\nBoth bounds, all trials and the attributes of RFC 9971 are in the report.");
  auto options = std::make_shared<FindOptions>();
  FindOptions& o = *options;
  declare(*command, o.ends);
  declare(*command, o.traffic);
  std::vector<std::string> methods;
  for (const tester::SearchMethod& method : tester::search_methods()) methods.emplace_back(method.name);
  command->add_option("--goals", o.goals, "What is searched for, at once")
      ->delimiter(',')
      ->capture_default_str()
      ->group("Search");
  command->add_option("--method", o.method, "mlr: RFC 9971, several goals at once; binary: RFC 2544, one goal")
      ->check(CLI::IsMember(methods))
      ->capture_default_str()
      ->group("Search");
  command->add_option("--min", o.least, "Least load (default: a thousandth of the greatest)")->group("Search");
  command->add_option("--max", o.most, "Greatest load (default: what the generator sends)")->group("Search");
  command->add_option("--width", o.width, "Per cent between the bounds, instead of the goals' own")
      ->check(CLI::Range(0.01, 50.0))
      ->group("Search");
  command->add_option("--trials", o.trials, "End a search after so many trials, with what is known")
      ->check(CLI::PositiveNumber)
      ->group("Search");
  command->add_option("--repeat", o.repeat, "Searches, one after the other")
      ->check(CLI::Range(std::size_t{1}, std::size_t{10'000}))
      ->capture_default_str()
      ->group("Search");
  command->add_option("--settle", o.settle, "How long to wait for frames after each trial")
      ->capture_default_str()
      ->group("Search");
  command->add_option("--learn", o.learn, "How long to try whether the device passes anything on; 0: do not try")
      ->capture_default_str()
      ->group("Search");
  command->add_option("--format", o.format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str()
      ->group("Report");
  command->add_option("-o,--output", o.output, "File for the report")->capture_default_str()->group("Report");
  command->add_flag("-q,--quiet", o.quiet, "No messages but errors")->group("Report");
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace parshall::cli
