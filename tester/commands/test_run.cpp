// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "app/send_options.hpp"
#include "base/parse.hpp"
#include "cli/command_line.hpp"
#include "cli/messages.hpp"
#include "cli/signals.hpp"
#include "cli/whole_file.hpp"
#include "tester/commands/test.hpp"
#include "tester/commands/test_ends.hpp"
#include "tester/report_writers.hpp"

namespace parshall::cli {
namespace {

constexpr const char* kTestRun = "test run";

struct RunOptions {
  EndOptions ends;
  TestTrafficOptions traffic;
  std::string rate = "10kpps", ramp, count = "0", duration, settle = "2s", learn = "10s";
  std::uint32_t burst = 1;
  std::optional<std::uint64_t> seed;
  bool flow_latency = false, quiet = false;
  int confidence = 95;
  std::string format = "text", output = "-";
};

struct RunPlan {
  TrafficSpec traffic;
  SendPlan send;
  std::uint64_t settle_ns = 0, learn_ns = 0;
};

Result<RunPlan> plan(const RunOptions& o) {
  RunPlan plan;
  if (const auto error = conflict_of(o.ends)) return *error;
  auto traffic = plan_traffic(o.traffic);
  if (!traffic) return traffic.error();
  plan.traffic = *std::move(traffic);
  // A test sends like `parshall send`.
  SendOptions sending;
  sending.traffic = plan_text(o.traffic);
  sending.nowhere = true;
  sending.rate = o.rate;
  sending.ramp = o.ramp;
  sending.count = o.count;
  sending.duration = !o.duration.empty() ? o.duration : o.count == "0" ? "10s" : "0";
  sending.burst = o.burst;
  const auto choices = choose(sending);
  if (!choices) return choices.error();
  plan.send = choices->plan;
  if (plan.send.frames == 0 && plan.send.duration_ns == 0) return Error{"a test must end: give --duration or --count"};
  for (const auto& [option, text, into] :
       {std::tuple{"--settle", &o.settle, &plan.settle_ns}, std::tuple{"--learn", &o.learn, &plan.learn_ns}}) {
    const auto value = parse_duration_ns(*text);
    if (!value) return Error{fmt::format("{} {}: give a time, such as 2s", option, *text)};
    *into = *value;
  }
  return plan;
}

std::string text_of(const tester::TestReport& report, const std::string& format) {
  if (format == "json") return tester::report_json(report);
  return format == "csv" ? tester::report_csv(report) : tester::report_text(report);
}

int run(RunOptions options) {
  const std::uint64_t seed = settle_seeds(options.seed, options.ends, options.traffic);
  auto planned = plan(options);
  if (!planned) return fail(kTestRun, planned.error(), kUsage);
  if (const auto error = prepare_for(options.output)) return fail(kTestRun, *error, kFailed);
  const auto frames = make_frames(planned->traffic);
  if (!frames) return fail(kTestRun, frames.error(), kFailed);
  catch_signals();
  auto test = prepare_test(options.ends, std::span(&*frames, 1),
                           {.command = kTestRun, .learn_ns = planned->learn_ns, .quiet = options.quiet});
  if (!test) return fail(kTestRun, test.error(), kFailed);
  const auto send = on_line(planned->send, test->line_bps());
  if (!send) return fail(kTestRun, send.error(), kUsage);

  tester::TrialOptions trial{.send = *send, .settle_ns = planned->settle_ns, .book = {}};
  if (options.flow_latency) trial.book.flow_latency_error = 0.05;
  const auto device_seed = test->begin_trial();
  if (!device_seed) return fail(kTestRun, device_seed.error(), kFailed);
  const std::uint64_t dropped_before = test->dropped_in_sending();
  const tester::TrialResult result = tester::run_trial(frames->trace, frames->streams, test->ends(), trial, stop_asked);
  tester::TestReport report =
      tester::make_report(*result.receiver, result.sent, result.sending_ns,
                          options.confidence == 99 ? tester::Confidence::percent_99 : tester::Confidence::percent_95);
  const auto problem = test->problem();
  if (problem) say(kTestRun, problem->message);
  const auto did = test->finish();
  if (!did) say(kTestRun, did.error().message);
  const ValueHistogram& late = *result.lateness_ns;
  report.about = {.command = command_line(),
                  .device = test->description(),
                  .traffic = plan_text(options.traffic),
                  .rate = options.rate,
                  .seed = seed,
                  .device_seed = *device_seed,
                  .sending = result.sending,
                  .dropped_in_sending = test->dropped_in_sending() - dropped_before,
                  .receiving = result.device,
                  .late_p50_ns = late.quantile(0.5),
                  .late_p99_ns = late.quantile(0.99),
                  .late_max_ns = late.quantile(1),
                  .interrupted = result.interrupted,
                  .device_did = did ? *did : std::string()};
  int status = did && !problem ? kDone : kFailed;
  if (result.damage) status = fail(kTestRun, *result.damage, kFailed);
  if (const auto error = write_whole(options.output, text_of(report, options.format)))
    return fail(kTestRun, *error, kFailed);
  return status;
}

}  // namespace

void add_test_run(Command test, int& status) {
  Command command =
      test.add_subcommand("run", "Send through a device, and report the fate of every frame of every flow");
  auto options = std::make_shared<RunOptions>();
  RunOptions& o = *options;
  declare(command, o.ends);
  declare(command, o.traffic);
  declare_seed(command, o.seed);
  command
      ->add_option("--rate", o.rate,
                   "asap; pps, kpps, Mpps; bps to Gbps on the line, with preamble, FCS and gap; % of the line rate")
      ->capture_default_str()
      ->group("When");
  command->add_option("--ramp", o.ramp, "FROM:TIME, such as 1kpps:10s: increase the rate gradually")->group("When");
  command->add_option("--burst", o.burst, "Frames per burst, with pauses between bursts that keep the rate")
      ->check(in_range(1u, 1u << 20))
      ->capture_default_str()
      ->group("When");
  command->add_option("--count", o.count, "Stop after this number of frames")->group("When");
  command->add_option("--duration", o.duration, "Stop after this time (default: 10s, without --count)")->group("When");
  command->add_option("--settle", o.settle, "Time to wait for frames after the last one was sent")
      ->capture_default_str()
      ->group("When");
  command->add_option("--learn", o.learn, "Longest time to test whether the device forwards frames; 0: do not test")
      ->capture_default_str()
      ->group("When");
  command->add_flag("--flow-latency", o.flow_latency, "Also report percentiles of each flow's latency")
      ->group("Report");
  command->add_option("--confidence", o.confidence, "Confidence of the intervals of ratios, in percent")
      ->check(among({95, 99}))
      ->capture_default_str()
      ->group("Report");
  command->add_option("--format", o.format, "text, json, or csv: one line per flow")
      ->check(among({"text", "json", "csv"}))
      ->capture_default_str()
      ->group("Report");
  command->add_option("-o,--output", o.output, "File for the report")->capture_default_str()->group("Report");
  command->add_flag("-q,--quiet", o.quiet, "Print only errors")->group("Report");
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace parshall::cli
