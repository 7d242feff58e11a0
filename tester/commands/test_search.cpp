// SPDX-License-Identifier: Apache-2.0
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>

#include "base/machine.hpp"
#include "base/version.hpp"
#include "cli/command_line.hpp"
#include "cli/messages.hpp"
#include "cli/signals.hpp"
#include "cli/whole_file.hpp"
#include "pipeline/output/format.hpp"
#include "tester/commands/device_trials.hpp"
#include "tester/commands/monitor_under_test.hpp"
#include "tester/commands/search_options.hpp"
#include "tester/commands/test.hpp"
#include "tester/commands/test_ends.hpp"
#include "tester/search/search_run.hpp"
#include "tester/search_report/search_report.hpp"
#include "traffic/frame.hpp"

namespace parshall::cli {
namespace {

constexpr const char* kTestSearch = "test search";

/// Makes enough frames of each size to see if they come through. All frames of all sizes would take too much memory.
Result<std::vector<TestFrames>> make_samples(const std::vector<SizePlan>& sizes) {
  std::vector<TestFrames> samples;
  for (const SizePlan& size : sizes) {
    TrafficSpec few = size.traffic;
    const std::uint64_t packets = std::max<std::uint64_t>(1024, few.flows);
    few.packets = few.packets == 0 ? packets : std::min(few.packets, packets);
    auto frames = make_frames(few);
    if (!frames) return frames.error();
    samples.push_back(*std::move(frames));
  }
  return samples;
}

double mean_line_bytes(const Trace& trace) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < trace.packets(); ++i) sum += line_bytes(trace.frame_bytes(i));
  return static_cast<double>(sum) / static_cast<double>(trace.packets());
}

/// Tracks the rest of --max-time, from its construction on.
class TimeLeft {
 public:
  explicit TimeLeft(const SearchOrder& order) : most_s_(seconds(order.most_ns)), beside_s_(seconds(order.settle_ns)) {}

  bool is_limited() const noexcept { return most_s_ > 0; }
  double used_s() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }
  double most_s() const noexcept { return most_s_; }

  /// Returns true if a trial of this length would end in time, including the overhead of trials so far.
  bool is_enough_for(double trial_s) const { return !is_limited() || used_s() + trial_s + beside_s_ <= most_s_; }

  void begin_trial() { trial_began_ = Clock::now(); }
  void end_trial(const tester::TrialOutcome& trial) {
    const double took_s = std::chrono::duration<double>(Clock::now() - trial_began_).count();
    beside_s_ = std::max(beside_s_, took_s / static_cast<double>(trial.runs) - trial.duration_s);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static double seconds(std::uint64_t ns) noexcept { return static_cast<double>(ns) * 1e-9; }

  Clock::time_point began_ = Clock::now(), trial_began_ = began_;
  double most_s_, beside_s_;
};

/// Runs the searches of an order, and holds their results at any time.
class SearchSession {
 public:
  SearchSession(const SearchOrder& order, const SearchOptions& options, tester::SearchReport& report, TimeLeft& time)
      : order_(order), options_(options), report_(report), time_(time) {}

  /// Runs all searches with frames of one size.
  std::optional<Error> search(const SizePlan& plan, UnderTest& under_test) {
    const auto frames = make_frames(plan.traffic);
    if (!frames) return frames.error();
    return search(plan.size, mean_line_bytes(*frames->trace), *under_test.measurer(*frames));
  }

 private:
  std::optional<Error> search(const std::string& name, double frame_line_bytes, tester::TrialRunner& measurer) {
    const auto ceiling_pps = measurer.ceiling_pps();
    if (stop_asked()) return std::nullopt;
    if (!ceiling_pps) return ceiling_pps.error();
    tester::SearchPlan plan = order_.search;
    if (plan.max_load_pps == 0) plan.max_load_pps = *ceiling_pps;
    if (plan.min_load_pps == 0) plan.min_load_pps = plan.max_load_pps / 1000;
    if (plan.max_load_pps > tester::kNearCeiling * *ceiling_pps && !options_.quiet)
      say(kTestSearch, fmt::format("size {}: the generator can send at most {}: results near that show its limit", name,
                                   scaled_text(*ceiling_pps, "pps")));
    if (const auto problem = tester::problem_of(plan)) return *problem;
    report_.sizes.push_back({.size = name,
                             .line_bytes = frame_line_bytes,
                             .ceiling_pps = *ceiling_pps,
                             .min_load_pps = plan.min_load_pps,
                             .max_load_pps = plan.max_load_pps});
    tester::SizeSearches& size = report_.sizes.back();
    while (size.searches.size() < options_.repeat && !stop_asked() && time_.is_enough_for(0)) {
      const auto search = order_.method->make(plan);
      if (!search) return search.error();
      auto run = tester::run_search(**search, measurer,
                                    [&](const tester::TrialOutcome& trial) {
                                      time_.end_trial(trial);
                                      tell(size, trial, **search);
                                    },
                                    stop_asked, {.most_load_pps = tester::kNearCeiling * *ceiling_pps},
                                    {.has_time = [&](double trial_s) { return time_.is_enough_for(trial_s); },
                                     .begins =
                                         [&](const tester::TrialInput& trial) {
                                           time_.begin_trial();
                                           tell_begin(size, trial);
                                         }});
      if (!run.result.trials.empty()) size.searches.push_back(std::move(run.result));
      if (run.failure) return run.failure;
    }
    return std::nullopt;
  }

  std::string name_of(const tester::SizeSearches& size) const {
    return options_.repeat == 1
               ? fmt::format("size {}", size.size)
               : fmt::format("size {}, search {} of {}", size.size, size.searches.size() + 1, options_.repeat);
  }

  std::string time_text() const {
    const std::string used = fmt::format("{:.0f} s", time_.used_s());
    return time_.is_limited() ? fmt::format("{} of {:.0f} s", used, time_.most_s()) : used;
  }

  /// Announces a trial that is so long that no other message would come for a while.
  void tell_begin(const tester::SizeSearches& size, const tester::TrialInput& trial) const {
    constexpr double kLongS = 5;
    if (options_.quiet || trial.duration_s < kLongS) return;
    say(kTestSearch, fmt::format("{}: {} for {:.4g} s begins, after {}", name_of(size),
                                 scaled_text(trial.load_pps, "pps"), trial.duration_s, time_text()));
  }

  void tell(const tester::SizeSearches& size, const tester::TrialOutcome& trial, const tester::Search& search) const {
    if (options_.quiet) return;
    std::string goals;
    for (const tester::GoalResult& goal : search.result().goals)
      goals += fmt::format("; {} {} to {}", goal.goal.name, bound(goal.lower_so_far_pps), bound(goal.upper_so_far_pps));
    say(kTestSearch,
        fmt::format(
            "{}: {} for {:.4g} s: {} of {} received{}{}; {}", name_of(size), scaled_text(trial.load_pps, "pps"),
            trial.duration_s, trial.received, std::max(trial.offered, trial.sent),
            trial.runs == 1 ? "" : fmt::format(", in the one of {} runs that the host disturbed least", trial.runs),
            goals, time_text()));
  }

  static std::string bound(const std::optional<double>& pps) { return pps ? scaled_text(*pps, "pps") : "?"; }

  const SearchOrder& order_;
  const SearchOptions& options_;
  tester::SearchReport& report_;
  TimeLeft& time_;
};

std::optional<tester::ProcessorUse> shares_since(const ProcessorTime& before) {
  const ProcessorTime now = processor_time();
  const double all = now.all - before.all, idle = now.idle - before.idle, stolen = now.stolen - before.stolen;
  if (!(all > 0)) return std::nullopt;
  return tester::ProcessorUse{.busy = (all - idle - stolen) / all, .stolen = stolen / all};
}

/// Describes the machine. Steal is left out: the report has the steal time during the searches, not since start-up.
std::vector<tester::Fact> machine_facts() {
  std::vector<tester::Fact> facts = describe_machine();
  std::erase_if(facts, [](const tester::Fact& fact) { return fact.first == "steal"; });
  return facts;
}

Result<std::unique_ptr<UnderTest>> make_ready(const SearchOrder& order, const SearchOptions& options) {
  const auto samples = make_samples(order.sizes);
  if (!samples) return samples.error();
  if (order.monitor) {
    auto monitor = MonitorUnderTest::start(*order.monitor, options.ends.eal, order.settle_ns);
    if (!monitor) return monitor.error();
    if (const auto error = too_long(*samples, (*monitor)->longest_frame())) return *error;
    return std::unique_ptr<UnderTest>(*std::move(monitor));
  }
  auto test = prepare_test(options.ends, *samples,
                           {.command = kTestSearch, .learn_ns = order.learn_ns, .quiet = options.quiet});
  if (!test) return test.error();
  return std::unique_ptr<UnderTest>(
      std::make_unique<DeviceUnderTest>(*std::move(test), order.settle_ns, order.learn_ns));
}

tester::SearchReport begin_report(const SearchOrder& order, const UnderTest& under_test) {
  return {.command = command_line(),
          .device = under_test.description(),
          .traffic = order.traffic,
          .method = std::string(order.method->name),
          .method_summary = std::string(order.method->summary),
          .version = version(),
          .began = fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(std::time(nullptr))),
          .goals = order.search.goals,
          .received = under_test.received(),
          .phases = under_test.phases(),
          .machine = machine_facts()};
}

bool has_trials(const tester::SearchReport& report) {
  return std::ranges::any_of(report.sizes, [](const tester::SizeSearches& size) { return !size.searches.empty(); });
}

int run(SearchOptions options) {
  const std::uint64_t seed = settle_seeds(options.seed, options.ends, options.traffic);
  const auto order = order_search(options);
  if (!order) return fail(kTestSearch, order.error(), kUsage);
  if (const auto error = prepare_for(options.output)) return fail(kTestSearch, *error, kFailed);
  catch_signals();
  TimeLeft time(*order);
  const auto ready = make_ready(*order, options);
  if (!ready) return fail(kTestSearch, ready.error(), kFailed);
  UnderTest& under_test = **ready;

  tester::SearchReport report = begin_report(*order, under_test);
  report.seed = seed;
  const ProcessorTime before = processor_time();
  SearchSession session(*order, options, report, time);
  std::optional<Error> failure;
  for (const SizePlan& size : order->sizes)
    if (!failure && !stop_asked() && time.is_enough_for(0)) failure = session.search(size, under_test);
  if (!failure) failure = under_test.finish();
  report.processors = shares_since(before);
  report.interrupted = stop_asked();
  if (failure) report.failure = failure->message;
  if (!failure && !stop_asked() && !has_trials(report))
    failure = Error{fmt::format("--max-time {} ended before a trial could begin", options.max_time)};
  if (failure) say(kTestSearch, failure->message);
  if (failure && !has_trials(report)) return kFailed;
  const auto format = std::ranges::find(tester::search_formats(), options.format, &tester::SearchFormat::name);
  if (const auto error = write_whole(options.output, format->write(report))) return fail(kTestSearch, *error, kFailed);
  return failure ? kFailed : kDone;
}

}  // namespace

void add_test_search(Command test, int& status) {
  Command command =
      test.add_subcommand("search", "Find the highest rate at which a device, or watch itself, meets a loss goal");
  command->footer(
      "Goals: rfc2544 (60 s, no loss), tst009, ndr and pdr (0 and 0.5 % loss, which half of 21 s of trials may\n"
      "exceed). If disturbances by the host decide on a goal, the trial runs again, up to nine times.\n"
      "Disturbances are late or unsent frames, a full receiver, and stolen time. The report has both bounds,\n"
      "all trials and the attributes of RFC 9971.");
  auto options = std::make_shared<SearchOptions>();
  declare(command, *options);
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace parshall::cli
