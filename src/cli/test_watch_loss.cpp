// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>

#include "base/parse.hpp"
#include "cli/command_line.hpp"
#include "cli/loss_report.hpp"
#include "cli/messages.hpp"
#include "cli/signals.hpp"
#include "cli/test.hpp"
#include "cli/whole_file.hpp"
#include "generate/send_schedule.hpp"
#include "generate/traffic.hpp"
#include "tester/watch_loss/child.hpp"

namespace parshall::cli {
namespace {

constexpr const char* kName = "test watch-loss";
constexpr const char* kOurCounts = "^accounting .* ([0-9]+) counted";
constexpr const char* kOurDrops = "^accounting .* ([0-9]+) nic_missed";

/// As typed.
struct WatchLossOptions {
  std::string monitor, counts, drops, ready, settle = "300ms";
  bool has_ready = false;
  std::vector<std::string> interfaces;
  std::string traffic = "flows=65536", rate = "100kpps", count = "200k";
  std::uint32_t burst = 1, runs = 10;
  std::string format = "text", output = "-";
  bool quiet = false;
};

/// This program's file, to be run again.
Result<std::string> own_path() {
  std::error_code problem;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", problem);
  if (problem) return Error{"cannot find this program's own file: " + problem.message()};
  return path.string();
}

Result<tester::CountPattern> pattern_of(const char* option, const std::string& text) {
  auto pattern = tester::CountPattern::parse(text);
  if (!pattern) return Error{fmt::format("{} {}", option, pattern.error().message)};
  return pattern;
}

Result<tester::LossPlan> choose(const WatchLossOptions& options) {
  const auto self = own_path();
  if (!self) return self.error();
  const auto words = options.monitor.empty()
                         ? Result<std::vector<std::string>>({*self, "watch", "-i", "{interface}", "--top", "1"})
                         : tester::command_words(options.monitor);
  if (!words) return Error{"--monitor " + words.error().message};
  const bool is_ours = std::filesystem::path(words->front()).filename() == "parshall";
  if (options.counts.empty() && !is_ours)
    return Error{
        "--counts: say how the number of packets is found in what the monitor says, such as '([0-9]+) packets"
        " captured'"};
  auto counts = pattern_of("--counts", options.counts.empty() ? kOurCounts : options.counts);
  if (!counts) return counts.error();
  tester::LossPlan plan{.monitor = *words, .counts = *std::move(counts)};
  if (const std::string drops = options.drops.empty() && is_ours ? kOurDrops : options.drops; !drops.empty()) {
    auto pattern = pattern_of("--drops", drops);
    if (!pattern) return pattern.error();
    plan.drops = *std::move(pattern);
  }
  try {
    if (options.has_ready) plan.ready = std::regex(options.ready);
  } catch (const std::regex_error& error) {
    return Error{fmt::format("--ready {}: no regular expression (ECMAScript): {}", options.ready, error.what())};
  }
  const auto settle_ns = parse_duration_ns(options.settle);
  if (!settle_ns) return Error{"--settle " + options.settle + ": give a time such as 300ms"};
  plan.settle = std::chrono::milliseconds(*settle_ns / 1'000'000);
  if (const auto count = parse_count(options.count); !count || *count == 0)
    return Error{"--count " + options.count + ": give a number of packets such as 200k or 1M"};
  if (const auto rate = SendRate::parse(options.rate); !rate) return Error{"--rate: " + rate.error().message};
  if (const auto traffic = TrafficSpec::parse(options.traffic); !traffic) return traffic.error();
  plan.send = {*self,
               "send",
               "-q",
               "-i",
               "{interface}",
               "-g",
               options.traffic,
               "--rate",
               options.rate,
               "--count",
               options.count,
               "--burst",
               std::to_string(options.burst),
               "--format",
               "json"};
  if (!options.interfaces.empty()) {
    plan.sending = tester::LinkEnd{.space = "", .interface = options.interfaces[0]};
    plan.watched = tester::LinkEnd{.space = "", .interface = options.interfaces[1]};
  }
  return plan;
}

int fail(const Error& error, ExitStatus status) {
  say(kName, error.message);
  return status;
}

int run(const WatchLossOptions& options) {
  const auto plan = choose(options);
  if (!plan) return fail(plan.error(), kUsage);
  if (const auto error = prepare_for(options.output)) return fail(*error, kFailed);
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
      say(kName,
          fmt::format("run {} of {}: {} of {} counted", summary.runs.size(), options.runs, run->counted, run->offered));
  }
  if (summary.runs.size() < options.runs && !problem)
    say(kName, fmt::format("stopped after {} of {} runs", summary.runs.size(), options.runs));
  if (summary.runs.empty() && !problem) return kFailed;
  if (!summary.runs.empty()) {
    if (const auto error =
            write_whole(options.output, options.format == "json" ? loss_json(summary) : loss_text(summary)))
      return fail(*error, kFailed);
  }
  return problem ? fail(*problem, kFailed) : kDone;
}

}  // namespace

void add_test_watch_loss(CLI::App& test, int& status) {
  CLI::App* command = test.add_subcommand(
      "watch-loss", "Which share of the packets a monitor loses: known numbers are sent to it, again and again");
  auto options = std::make_shared<WatchLossOptions>();
  WatchLossOptions& o = *options;
  command
      ->add_option("--monitor", o.monitor,
                   "Its command, with {interface} for what it is to watch; it is ended by SIGINT (default: parshall "
                   "watch -i {interface} --top 1)")
      ->group("Monitor");
  command
      ->add_option("--counts", o.counts,
                   "Regular expression with one group: the packets it saw, in the last line of its output that has it")
      ->group("Monitor");
  command->add_option("--drops", o.drops, "Likewise: the packets that it says it lost")->group("Monitor");
  auto* const ready =
      command
          ->add_option("--ready", o.ready,
                       "Regular expression of what it says when it captures (default: it has a packet socket)")
          ->group("Monitor");
  command->add_option("--settle", o.settle, "Time it gets then, and after the last packet")
      ->capture_default_str()
      ->group("Monitor");
  command
      ->add_option("-i,--interfaces", o.interfaces,
                   "SENDING,WATCHED: two interfaces that are joined (default: a veth pair in namespaces, new in each "
                   "run)")
      ->delimiter(',')
      ->expected(2)
      ->group("Packets");
  command->add_option("-g,--generate", o.traffic, "Built-in traffic, as for parshall send")
      ->capture_default_str()
      ->group("Packets");
  command->add_option("--rate", o.rate, "As for parshall send: asap, 100kpps, 1Gbps, ...")
      ->capture_default_str()
      ->group("Packets");
  command->add_option("--burst", o.burst, "Frames that are sent at once")
      ->check(CLI::Range(1u, 1u << 20))
      ->capture_default_str()
      ->group("Packets");
  command->add_option("--count", o.count, "Packets of each run")->capture_default_str()->group("Packets");
  command->add_option("--runs", o.runs, "How often")
      ->check(CLI::Range(1u, 10'000u))
      ->capture_default_str()
      ->group("Packets");
  command->add_option("--format", o.format, "Of the report; json has each run")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str()
      ->group("Report");
  command->add_option("-o,--output", o.output, "File of the report, - for standard output")
      ->capture_default_str()
      ->group("Report");
  command->add_flag("-q,--quiet", o.quiet, "No line for each run")->group("Report");
  command->callback([options, ready, &status] {
    options->has_ready = ready->count() != 0;
    status = run(*options);
  });
}

}  // namespace parshall::cli
