// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/filter_words.hpp"
#include "app/interface_pair.hpp"
#include "base/parse.hpp"
#include "cli/exit_status.hpp"
#include "cli/messages.hpp"
#include "cli/signals.hpp"
#include "compare/report/json.hpp"
#include "compare/report/report.hpp"
#include "compare/report/warnings.hpp"
#include "pipeline/output/output.hpp"
#include "pipeline/output/text/text_table.hpp"
#include "tester/commands/passive_limits.hpp"
#include "tester/commands/test.hpp"

namespace parshall::cli {
namespace {

using tester::PassiveLimit;
using Verdict = tester::Verdict;

constexpr const char* kBetween = "test between";
constexpr const char* kVerdicts[] = {"kept", "EXCEEDED", "NOT SURE", "NOT MEASURED"};

struct BetweenOptions {
  std::string interface, to, longest = "1s", duration = "10s", every = "1s";
  std::vector<std::string> limits, filter;
  bool nat = false;
  CompareReport report;
  std::string output = "-";
};

/// A limit, and how both ways keep to it.
struct Judged {
  PassiveLimit limit;
  std::optional<PassiveLimit::Outcome> there, back;  ///< nullopt: no packet goes that way

  bool is_kept() const {
    const auto keeps = [](const auto& outcome) { return !outcome || outcome->verdict == Verdict::kept; };
    return keeps(there) && keeps(back) && (there || back);
  }
};

std::vector<Judged> judge(const std::vector<PassiveLimit>& limits, const Compared& compared) {
  std::vector<Judged> all;
  for (const PassiveLimit& limit : limits) {
    Judged judged{limit, {}, {}};
    if (compared.found.there.sent != 0) judged.there = limit.judge(compared, Way::there);
    if (compared.found.back.sent != 0) judged.back = limit.judge(compared, Way::back);
    all.push_back(std::move(judged));
  }
  return all;
}

std::string cell(const std::optional<PassiveLimit::Outcome>& outcome) {
  if (!outcome) return "no packets";
  const char* const verdict = kVerdicts[static_cast<std::size_t>(outcome->verdict)];
  return outcome->value.empty() ? verdict : fmt::format("{}, {}", outcome->value, verdict);
}

/// Writes how fast packets came, and the interval of each way in which the largest share was lost.
void write_intervals(const Compared& compared, std::uint64_t began_ns, Output& output) {
  for (const auto& [way, name] : {std::pair(Way::there, "there"), std::pair(Way::back, "back")}) {
    const ComparedInterval* worst = nullptr;
    double fastest = 0, most = 0;
    for (const ComparedInterval& interval : compared.over_time->ended()) {
      if (!interval.is_whole) continue;
      const Passed& passed = way == Way::there ? interval.there : interval.back;
      const std::uint64_t known = passed.delivered + passed.lost;
      const double share = known == 0 ? 0 : static_cast<double>(passed.lost) / static_cast<double>(known);
      if (share > most) worst = &interval, most = share;
      fastest = std::max(
          fastest, static_cast<double>(passed.sent) * 1e9 / static_cast<double>(interval.end_ns - interval.begin_ns));
    }
    if (fastest != 0) output.write(fmt::format("fastest   {}: {:.0f} packets per second\n", name, fastest));
    if (worst == nullptr) continue;
    const Passed& passed = way == Way::there ? worst->there : worst->back;
    output.write(fmt::format("worst     {}: {} of {} packets lost in the {} that began {} after the start\n", name,
                             passed.lost, passed.delivered + passed.lost,
                             delay_text(static_cast<double>(worst->end_ns - worst->begin_ns)),
                             delay_text(static_cast<double>(worst->begin_ns - began_ns))));
  }
}

void write_text(const std::vector<Judged>& judged, const Compared& compared, const CompareReport& report,
                std::uint64_t began_ns, Output& output) {
  report.write(compared, output);
  output.write("\n");
  write_intervals(compared, began_ns, output);
  if (judged.empty()) return;
  TextTable table(std::vector<std::string>{"limit", "there (up -> down)", "back (down -> up)"}, 1, output);
  for (const Judged& one : judged) table.add(std::vector{one.limit.text(), cell(one.there), cell(one.back)});
  table.finish();
}

void write_json(const std::vector<Judged>& judged, const Compared& compared, const CompareReport& report,
                Output& output) {
  auto json = nlohmann::ordered_json::parse(summary_json(compared, /*intervals=*/true));
  auto& limits = json["limits"] = nlohmann::ordered_json::array();
  const auto of = [](const auto& outcome) -> nlohmann::ordered_json {
    constexpr const char* kNames[] = {"kept", "exceeded", "unsure", "not_measured"};
    if (!outcome) return nullptr;
    return {{"value", outcome->value}, {"verdict", kNames[static_cast<std::size_t>(outcome->verdict)]}};
  };
  for (const Judged& one : judged)
    limits.push_back(
        {{"limit", one.limit.text()}, {"kept", one.is_kept()}, {"there", of(one.there)}, {"back", of(one.back)}});
  json["flows"] = nlohmann::ordered_json::parse(flows_json(compared, report.flows(compared.found)));
  output.write(json.dump(2) + "\n");
}

int run(const BetweenOptions& options) {
  const auto refuse = [](const Error& error) { return fail(kBetween, error, kUsage); };
  InterfacePair::Settings settings{.up = options.interface,
                                   .down = options.to,
                                   .on_the_way = options.nat ? OnTheWay::translated : OnTheWay::forwarded};
  if (const auto problem = InterfacePair::problem(options.interface, options.to)) return refuse(*problem);
  if (const auto problem = InterfacePair::set_times(options.longest, options.duration, settings))
    return refuse(*problem);
  const auto every_ns = parse_duration_ns(options.every);
  if (!every_ns || *every_ns < 10'000'000)
    return refuse(Error{fmt::format("--every {}: give a time of at least 10ms", options.every)});
  settings.interval_ns = *every_ns;
  if (settings.duration_ns / *every_ns >= OverTime::kMost)
    return refuse(Error{fmt::format("--every {}: at most {} intervals are kept, so give a longer time", options.every,
                                    OverTime::kMost - 1)});
  std::vector<PassiveLimit> limits;
  for (const std::string& text : options.limits) {
    auto limit = PassiveLimit::parse(text);
    if (!limit) return refuse(limit.error());
    limits.push_back(*std::move(limit));
  }
  auto filter = filter_of(options.filter);
  if (!filter) return refuse(filter.error());
  settings.filter = *std::move(filter);
  catch_signals();
  InterfacePair pair(kBetween, std::move(settings));
  if (const auto error = pair.open()) return fail(kBetween, *error, kFailed);
  auto output = Output::open(options.output);
  if (!output) return fail(kBetween, output.error(), kFailed);
  if (const auto error = pair.confine()) return fail(kBetween, *error, kFailed);
  if (const auto error = pair.run([] { return true; })) return fail(kBetween, *error, kFailed);

  const Compared compared = pair.compared();
  const std::vector<Judged> judged = judge(limits, compared);
  if (options.report.format == "json")
    write_json(judged, compared, options.report, **output);
  else
    write_text(judged, compared, options.report, pair.began_ns(), **output);
  (*output)->finish();
  if (const auto& error = (*output)->error()) return fail(kBetween, *error, kFailed);
  if (const auto damage = pair.damage()) return fail(kBetween, *damage, kDamaged);
  std::size_t not_kept = 0;
  for (const Judged& one : judged) not_kept += !one.is_kept();
  if (not_kept != 0)
    return fail(kBetween, Error{fmt::format("{} of {} limits not kept", not_kept, judged.size())}, kFailed);
  return kDone;
}

}  // namespace

void add_test_between(Command test, int& status) {
  Command command = test.add_subcommand("between", "Measure a device under its own traffic, from both of its sides");
  command->footer(fmt::format(
      "Watches packets on both sides of a device, and sends none: what was lost, duplicated or reordered, and the\n"
      "delays, in each direction. Ends with status 1 unless all limits are kept:\n  {}\nExample: parshall test between "
      "-i eth0 --to eth1 --duration 60s --limit loss=0.1% --limit delay-p99=5ms",
      fmt::join(PassiveLimit::help(), "\n  ")));
  auto o = std::make_shared<BetweenOptions>();
  command->add_option("FILTER", o->filter, "Only packets that match, in libpcap's language; not port 22, for example");
  command->add_option("-i,--interface", o->interface, "Interface of this host before the device")->required();
  command->add_option("--to", o->to, "Interface behind it")->required();
  command->add_option("--duration", o->duration, "Time to measure")->capture_default_str();
  command->add_option("--wait", o->longest, "Longest time from one interface to the other; later packets are lost")
      ->capture_default_str();
  command->add_option("--every", o->every, "Length of the intervals, among which the worst is found")
      ->capture_default_str();
  command->add_option("--limit", o->limits, "NAME=VALUE that the device must keep within, see below; repeatable")
      ->allow_extra_args(false);
  command->add_flag("--nat", o->nat, "Addresses and ports change on the way: pair packets by their contents alone");
  command
      ->add_option("--top", o->report.top, "Number of flows to show in text, those with the most losses first; 0: all")
      ->capture_default_str();
  command->add_option("--format", o->report.format, "text, or json with all intervals and flows")
      ->check(among({"text", "json"}))
      ->capture_default_str();
  command->add_option("-o,--output", o->output, "File for the report, - for standard output")->capture_default_str();
  command->callback([o, &status] { status = run(*o); });
}

}  // namespace parshall::cli
