// SPDX-License-Identifier: Apache-2.0
#include "tester/commands/watch_loss_options.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "base/parse.hpp"
#include "tester/host/child.hpp"
#include "traffic/send_schedule.hpp"
#include "traffic/traffic.hpp"

namespace parshall::cli {
namespace {

constexpr const char* kOurCounts = "^accounting .* ([0-9]+) counted";
constexpr const char* kOurDrops = "^accounting .* ([0-9]+) nic_missed";

Result<tester::CountPattern> pattern_of(const char* option, const std::string& text) {
  auto pattern = tester::CountPattern::parse(text);
  if (!pattern) return Error{fmt::format("{} {}", option, pattern.error().message)};
  return pattern;
}

/// Parses the monitor's command, and how its output is read.
Result<tester::LossPlan> choose_monitor(const WatchLossOptions& options, const std::string& self) {
  const auto words = options.monitor.empty()
                         ? Result<std::vector<std::string>>({self, "watch", "-i", "{interface}", "--top", "1"})
                         : tester::command_words(options.monitor);
  if (!words) return Error{"--monitor " + words.error().message};
  const bool is_ours = std::filesystem::path(words->front()).filename() == "parshall";
  if (options.counts.empty() && !is_ours)
    return Error{
        "--counts: give a regular expression for the number of packets in the monitor's output, such as '([0-9]+) "
        "packets captured'"};
  auto counts = pattern_of("--counts", options.counts.empty() ? kOurCounts : options.counts);
  if (!counts) return counts.error();
  tester::LossPlan plan{.monitor = *words, .counts = *std::move(counts)};
  if (const std::string drops = options.drops.empty() && is_ours ? kOurDrops : options.drops; !drops.empty()) {
    auto pattern = pattern_of("--drops", drops);
    if (!pattern) return pattern.error();
    plan.drops = *std::move(pattern);
  }
  try {
    if (options.ready_option && options.ready_option->count() != 0) plan.ready = std::regex(options.ready);
  } catch (const std::regex_error& error) {
    return Error{fmt::format("--ready {}: not a regular expression (ECMAScript): {}", options.ready, error.what())};
  }
  return plan;
}

}  // namespace

void declare(Command command, WatchLossOptions& o) {
  command
      .add_option("--monitor", o.monitor,
                  "Command of the monitor, with {interface} for the interface to watch; SIGINT ends it (default: "
                  "parshall watch -i {interface} --top 1)")
      ->group("Monitor");
  command
      .add_option("--counts", o.counts,
                  "Regular expression with one group: the packets counted, in the last matching line of its output")
      ->group("Monitor");
  command
      .add_option("--drops", o.drops, "Regular expression with one group: the packets that the monitor reports as lost")
      ->group("Monitor");
  o.ready_option =
      command
          .add_option("--ready", o.ready,
                      "Regular expression of the output that shows that it captures (default: it has a packet socket)")
          ->group("Monitor");
  command
      .add_option("--settle", o.settle, "Time to wait after the last packet: libpcap may delay packets for a second")
      ->capture_default_str()
      ->group("Monitor");
  command
      .add_option("-i,--interfaces", o.interfaces,
                  "SENDING,WATCHED: two connected interfaces (default: a veth pair in namespaces, new in each run)")
      ->delimiter(',')
      ->expected(2)
      ->group("Packets");
  command.add_option("-g,--generate", o.traffic, "Built-in traffic, as for parshall send")
      ->capture_default_str()
      ->group("Packets");
  command.add_option("--rate", o.rate, "As for parshall send: asap, 100kpps, 1Gbps, ...")
      ->capture_default_str()
      ->group("Packets");
  command.add_option("--burst", o.burst, "Frames per burst")
      ->check(in_range(1u, 1u << 20))
      ->capture_default_str()
      ->group("Packets");
  command.add_option("--count", o.count, "Packets per run")->capture_default_str()->group("Packets");
  command.add_option("--runs", o.runs, "Number of runs")
      ->check(in_range(1u, 10'000u))
      ->capture_default_str()
      ->group("Packets");
  command.add_option("--format", o.format, "Format of the report; json contains each run")
      ->check(among({"text", "json"}))
      ->capture_default_str()
      ->group("Report");
  command.add_option("-o,--output", o.output, "File for the report, - for standard output")
      ->capture_default_str()
      ->group("Report");
  command.add_flag("-q,--quiet", o.quiet, "Do not print a line for each run")->group("Report");
}

Result<tester::LossPlan> choose(const WatchLossOptions& options) {
  const auto self = tester::monitor_path();
  if (!self) return self.error();
  auto plan = choose_monitor(options, *self);
  if (!plan) return plan.error();
  const auto settle_ns = parse_duration_ns(options.settle);
  if (!settle_ns) return Error{"--settle " + options.settle + ": give a time such as 1500ms"};
  plan->settle = std::chrono::milliseconds(*settle_ns / 1'000'000);
  const auto count = parse_count(options.count);
  if (!count || *count == 0) return Error{"--count " + options.count + ": give a number of packets such as 200k or 1M"};
  const auto rate = SendRate::parse(options.rate);
  if (!rate) return Error{"--rate: " + rate.error().message};
  if (const auto traffic = TrafficSpec::parse(options.traffic); !traffic) return traffic.error();
  plan->send_most = tester::longest_sending(*rate, *count);
  const std::string burst = std::to_string(options.burst);
  plan->send = {*self,        "send",    "-q",          "-i",      "{interface}", "-g",       options.traffic, "--rate",
                options.rate, "--count", options.count, "--burst", burst,         "--format", "json"};
  if (options.interfaces.empty()) return plan;
  plan->sending = tester::LinkEnd{.space = "", .interface = options.interfaces[0]};
  plan->watched = tester::LinkEnd{.space = "", .interface = options.interfaces[1]};
  return plan;
}

}  // namespace parshall::cli
