// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "app/commands.hpp"
#include "app/compare_live.hpp"
#include "app/filter_words.hpp"
#include "base/parse.hpp"
#include "cli/messages.hpp"
#include "cli/signals.hpp"
#include "compare/points.hpp"
#include "compare/recorded.hpp"
#include "compare/report/report.hpp"
#include "pipeline/output/output.hpp"
#include "web/access.hpp"

namespace parshall::cli {
namespace {

constexpr const char* kCompare = "compare";

struct CompareOptions {
  std::string up, down;  ///< captures; or the first words of the filter, if interfaces are named
  std::vector<std::string> filter;
  std::string interface, to;
  std::string longest = "1s", duration;
  std::string web, web_token;
  bool nat = false, live = false;
  CompareReport report;
  std::string output = "-";

  OnTheWay on_the_way() const { return nat ? OnTheWay::translated : OnTheWay::forwarded; }
  bool names_interfaces() const { return !interface.empty() || !to.empty(); }
};

int compare_interfaces(const CompareOptions& options) {
  const auto fail = [](const Error& error) { return cli::fail(kCompare, error, kUsage); };
  LiveTaps taps{.pair = {.up = options.interface, .down = options.to, .on_the_way = options.on_the_way()},
                .draws = options.live,
                .report = options.report,
                .output = options.output};
  if (const auto problem = InterfacePair::problem(options.interface, options.to)) return fail(*problem);
  if (const auto problem = InterfacePair::set_times(options.longest, options.duration, taps.pair))
    return fail(*problem);
  if (options.live && (options.output != "-" || ::isatty(STDOUT_FILENO) == 0 || options.report.format != "text"))
    return fail(Error{"--live needs a terminal and --format text"});
  if (!options.web.empty()) {
    auto access = web::Access::parse(options.web, options.web_token);
    if (!access) return fail(access.error());
    taps.web = *std::move(access);
  }
  std::vector<std::string> words = options.filter;
  words.insert(words.begin(), {options.up, options.down});
  auto filter = filter_of(std::move(words));
  if (!filter) return fail(filter.error());
  taps.pair.filter = *std::move(filter);
  catch_signals();
  return compare_live(std::move(taps));
}

/// Writes the report. Returns the status; anything but `status` was reported.
int write(const CompareOptions& options, const ComparedPoints& points, ExitStatus status) {
  auto output = Output::open(options.output);
  if (!output) return fail(kCompare, output.error(), kFailed);
  const auto wrong = options.report.write({points.up, points.down, points.found}, **output);
  (*output)->finish();
  if ((*output)->reader_gone()) return kReaderGone;
  if (const auto& error = (*output)->error() ? (*output)->error() : wrong) return fail(kCompare, *error, kFailed);
  return status;
}

int compare_recorded(const CompareOptions& options, const PointPaths& paths) {
  const auto up = read_records(paths.up), down = up ? read_records(paths.down) : up;
  if (!up || !down) return fail(kCompare, !up ? up.error() : down.error(), kFailed);
  if (const auto problem = settings_problem(paths.up, *up, paths.down, *down)) return fail(kCompare, *problem, kUsage);
  return write(options, compare_records(paths, *up, *down), kDone);
}

int compare_files(const CompareOptions& options) {
  const auto refuse = [](const Error& error) { return fail(kCompare, error, kUsage); };
  if (options.down.empty()) return refuse(Error{"name two captures, UP and DOWN, or two interfaces with -i and --to"});
  auto filter = filter_of(options.filter);
  if (!filter) return refuse(filter.error());
  const PointPaths paths{options.up, options.down, options.on_the_way(), *std::move(filter)};
  if (const auto problem = missing_point(paths)) return fail(kCompare, *problem, kFailed);
  if (const auto problem = points_problem(paths)) return refuse(*problem);
  if (is_within(paths, options.output))
    return refuse(Error{options.output + " is read from, or in a folder that is: write elsewhere"});
  if (has_records(paths.up)) return compare_recorded(options, paths);
  catch_signals();
  const auto points = compare_captures(paths, stop_asked);
  if (!points) return fail(kCompare, points.error(), kFailed);
  for (const Error& damage : points->damages) fail(kCompare, damage, kDamaged);
  for (const std::string& note : points->notes) say(kCompare, note);
  return write(options, *points, points->damages.empty() ? kDone : kDamaged);
}

}  // namespace

void add_compare(Command app, int& status) {
  Command compare = app.add_subcommand("compare", "Find what was lost between two points, and how long packets took");
  compare->footer(
      "Compares two captures of the same traffic packet by packet: UP was made before a device or a network, DOWN\n"
      "behind it. Or compares two interfaces of this host, around a device: parshall compare -i eth0 --to eth1.\n"
      "Or compares what two monitors recorded: parshall watch -i eth0 --seed 7 --digest --export parquet:UP.\n"
      "Reports for each direction and flow what was lost, duplicated or reordered, and the delays. Clocks may differ:\n"
      "traffic in both directions tells by how much. Captures take some 100 bytes of memory for each packet.");
  auto o = std::make_shared<CompareOptions>();
  compare->add_option("UP", o->up,
                      "Capture before it (pcap, pcapng or ERF; - for standard input), or folder of Parquet files");
  compare->add_option("DOWN", o->down, "Capture or folder behind it");
  compare->add_option("FILTER", o->filter, "Only packets that match, in libpcap's language; not port 22, for example");
  const Option interface =
      compare->add_option("-i,--interface", o->interface, "Interface of this host before it, instead of captures");
  compare->add_option("--to", o->to, "Interface behind it");
  compare->add_option("--wait", o->longest, "Longest time from one interface to the other; later packets are lost")
      ->capture_default_str()
      ->needs(interface);
  compare->add_option("--duration", o->duration, "Stop after this time, as 10s; else with Ctrl-C")->needs(interface);
  compare->add_flag("--live", o->live, "Show the report of two interfaces each second")->needs(interface);
  const Option web =
      compare
          ->add_option(
              "--web", o->web,
              "HOST:PORT of a web page with loss and delay over time, and of /metrics; PORT alone: 127.0.0.1; others "
              "need a token")
          ->needs(interface);
  compare->add_option("--web-token", o->web_token, "File whose first line is the token of the web page")->needs(web);
  compare
      ->add_option("--only", o->report.only,
                   "all, or lossy: only flows of which not every packet passed once, in order and unchanged")
      ->check(among({"all", "lossy"}))
      ->capture_default_str();
  compare
      ->add_option("--top", o->report.top, "Number of flows to show in text, those with the most losses first; 0: all")
      ->capture_default_str();
  compare->add_flag("--nat", o->nat, "Addresses and ports change on the way: pair packets by their contents alone");
  compare->add_option("--format", o->report.format, "text, json; or csv, parquet: the flows as a table")
      ->check(among({"text", "csv", "json", "parquet"}))
      ->capture_default_str();
  compare->add_option("-o,--output", o->output, "File to write to, - for standard output")->capture_default_str();
  compare->callback([o, &status] {
    try {
      if (o->report.format == "parquet" && o->output == "-")
        status = fail(kCompare, Error{"--format parquet needs a file: --output flows.parquet"}, kUsage);
      else
        status = o->names_interfaces() ? compare_interfaces(*o) : compare_files(*o);
    } catch (const std::bad_alloc&) {
      status =
          fail(kCompare,
               Error{"not enough memory: compare parts of the captures (editcap -A, -B), or fewer packets (a filter)"},
               kFailed);
    }
  });
}

}  // namespace parshall::cli
