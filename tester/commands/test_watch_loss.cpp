// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cli/command_line.hpp"
#include "cli/messages.hpp"
#include "cli/signals.hpp"
#include "cli/whole_file.hpp"
#include "tester/commands/loss_report.hpp"
#include "tester/commands/test.hpp"
#include "tester/commands/watch_loss_options.hpp"
#include "tester/host/child.hpp"

namespace parshall::cli {
namespace {

constexpr const char* kWatchLoss = "test watch-loss";

int run(const WatchLossOptions& options) {
  const auto plan = choose(options);
  if (!plan) return fail(kWatchLoss, plan.error(), kUsage);
  if (const auto error = prepare_for(options.output)) return fail(kWatchLoss, *error, kFailed);
  catch_signals();
  LossSummary summary{.command = command_line(),
                      .monitor = tester::joined(plan->monitor),
                      .sender = tester::joined(plan->send),
                      .runs = {}};
  std::optional<Error> problem;
  while (summary.runs.size() < options.runs && !stop_asked()) {
    const auto run = tester::run_loss(*plan, stop_asked);
    if (!run) {
      if (!stop_asked()) problem = Error{fmt::format("run {}: {}", summary.runs.size() + 1, run.error().message)};
      break;
    }
    summary.runs.push_back(*run);
    if (!options.quiet)
      say(kWatchLoss,
          fmt::format("run {} of {}: {} of {} counted", summary.runs.size(), options.runs, run->counted, run->offered));
  }
  if (summary.runs.size() < options.runs && !problem)
    say(kWatchLoss, fmt::format("stopped after {} of {} runs", summary.runs.size(), options.runs));
  if (summary.runs.empty() && !problem) return kFailed;
  if (!summary.runs.empty()) {
    if (const auto error =
            write_whole(options.output, options.format == "json" ? loss_json(summary) : loss_text(summary)))
      return fail(kWatchLoss, *error, kFailed);
  }
  return problem ? fail(kWatchLoss, *problem, kFailed) : kDone;
}

}  // namespace

void add_test_watch_loss(Command test, int& status) {
  Command command = test.add_subcommand(
      "watch-loss", "Measure the share of packets that a monitor loses, by sending it a known number repeatedly");
  auto options = std::make_shared<WatchLossOptions>();
  declare(command, *options);
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace parshall::cli
