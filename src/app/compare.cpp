// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <new>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "app/commands.hpp"
#include "app/compare_live.hpp"
#include "app/compare_report.hpp"
#include "base/parse.hpp"
#include "base/same_file.hpp"
#include "cli/messages.hpp"
#include "cli/signals.hpp"
#include "compare/comparison.hpp"
#include "compare/recorded.hpp"
#include "pipeline/capture/bpf_filter.hpp"
#include "pipeline/capture/interface_set.hpp"
#include "pipeline/capture/pcap_file.hpp"
#include "pipeline/decode/layers.hpp"
#include "pipeline/output/output.hpp"

namespace parshall::cli {
namespace {

constexpr const char* kCompare = "compare";

struct CompareOptions {
  std::string up, down;  ///< captures; or the first words of the filter, if interfaces are named
  std::vector<std::string> filter;
  std::string interface, to;
  std::string longest = "1s", duration;
  bool nat = false, live = false;
  CompareReport report;
  std::string output = "-";

  OnTheWay on_the_way() const { return nat ? OnTheWay::translated : OnTheWay::forwarded; }
  bool names_interfaces() const { return !interface.empty() || !to.empty(); }
};

/// Compiles the words of a filter; nullopt without any.
Result<std::optional<BpfFilter>> filter_of(std::vector<std::string> words) {
  std::erase(words, "");
  if (words.empty()) return std::optional<BpfFilter>();
  auto filter = BpfFilter::compile(fmt::format("{}", fmt::join(words, " ")));
  if (!filter) return filter.error();
  return std::optional(*std::move(filter));
}

/// Reads a capture. Returns the status; anything but kDone was reported.
ExitStatus read(const std::string& path, BpfFilter* filter, const PacketIds& ids, FlowNumbers& flows, Tap& tap) {
  tap.name = path == "-" ? "standard input" : path;
  auto sources = open_capture_file(path, 1);
  if (!sources) return fail(kCompare, sources.error(), kFailed), kFailed;
  PacketSource& source = *sources->front();
  read_tap(source, filter, ids, stop_asked, flows, tap);
  if (const auto damage = source.damage()) return fail(kCompare, *damage, kDamaged), kDamaged;
  return kDone;
}

std::uint64_t random_seed() {
  std::random_device random;
  return std::uint64_t{random()} << 32 | random();
}

int compare_interfaces(const CompareOptions& options) {
  const auto fail = [](const std::string& what) { return cli::fail(kCompare, Error{what}, kUsage); };
  if (options.interface.empty() || options.to.empty())
    return fail("name two interfaces: -i the one before the device, --to the one behind it");
  if (options.interface == options.to) return fail(options.to + " is named twice: name the interfaces of two points");
  for (const std::string& name : {options.interface, options.to})
    if (name == InterfaceSet::kAny) return fail("any is not one point: name interfaces (ip link)");
  const auto longest_ns = parse_duration_ns(options.longest);
  if (!longest_ns || *longest_ns < 1'000'000 || *longest_ns > 60'000'000'000)
    return fail(fmt::format("--wait {}: give a time from 1ms to 60s", options.longest));
  const auto duration_ns = options.duration.empty() ? 0 : parse_duration_ns(options.duration);
  if (!duration_ns) return fail(fmt::format("--duration {}: give a time, such as 10s", options.duration));
  if (options.live && (options.output != "-" || ::isatty(STDOUT_FILENO) == 0 || options.report.format != "text"))
    return fail("--live needs a terminal and --format text");
  std::vector<std::string> words = options.filter;
  words.insert(words.begin(), {options.up, options.down});
  auto filter = filter_of(std::move(words));
  if (!filter) return fail(filter.error().message);
  catch_signals();
  return compare_live({.up = options.interface,
                       .down = options.to,
                       .on_the_way = options.on_the_way(),
                       .filter = *std::move(filter),
                       .longest_ns = *longest_ns,
                       .duration_ns = *duration_ns,
                       .draws = options.live,
                       .report = options.report,
                       .output = options.output},
                      random_seed(), random_seed());
}

/// Returns whether records are there, not packets.
bool has_records(const std::string& path) {
  std::error_code wrong;
  return std::filesystem::is_directory(path, wrong) || path.ends_with(".parquet") || path.ends_with(".pq");
}

/// Writes the report. Returns the status; anything but `status` was reported.
int write(const CompareOptions& options, const Tap& up, const Tap& down, const Comparison& comparison,
          ExitStatus status) {
  auto output = Output::open(options.output);
  if (!output) return fail(kCompare, output.error(), kFailed);
  options.report.write(up, down, comparison, **output);
  (*output)->finish();
  if ((*output)->reader_gone()) return kReaderGone;
  if (const auto& error = (*output)->error()) return fail(kCompare, *error, kFailed);
  return status;
}

int compare_records(const CompareOptions& options) {
  const auto fail = [](const Error& error, ExitStatus status) { return cli::fail(kCompare, error, status); };
  for (const std::string& path : {options.up, options.down})
    if (std::error_code wrong; !std::filesystem::exists(path, wrong))
      return fail(Error{fmt::format("cannot read {}: it does not exist", path)}, kFailed);
  if (!has_records(options.up) || !has_records(options.down))
    return fail(Error{fmt::format("{} has records, and {} has not: name two captures, or two folders of Parquet files",
                                  has_records(options.up) ? options.up : options.down,
                                  has_records(options.up) ? options.down : options.up)},
                kUsage);
  if (options.nat || !options.filter.empty())
    return fail(Error{"records have no packets: leave out --nat and the filter"}, kUsage);
  const auto up = read_records(options.up), down = up ? read_records(options.down) : up;
  if (!up || !down) return fail(!up ? up.error() : down.error(), kFailed);
  if (const auto problem = settings_problem(options.up, *up, options.down, *down)) return fail(*problem, kUsage);
  Tap taps[2];
  for (const auto& [set, tap, name] :
       {std::tuple(&*up, &taps[0], &options.up), std::tuple(&*down, &taps[1], &options.down)}) {
    static_cast<TapCounts&>(*tap) = set->tap;
    tap->name = *name;
    tap->lacks = set->lacks;
  }
  return write(options, taps[0], taps[1], compare(*up, *down), kDone);
}

int compare_captures(const CompareOptions& options) {
  auto filter = filter_of(options.filter);
  if (!filter) return fail(kCompare, filter.error(), kUsage);
  catch_signals();
  const PacketIds ids(random_seed(), options.on_the_way());
  FlowNumbers flows(random_seed());
  Tap up, down;
  ExitStatus status = kDone;
  for (auto [path, tap] : {std::pair(&options.up, &up), std::pair(&options.down, &down)}) {
    const ExitStatus one = read(*path, *filter ? &**filter : nullptr, ids, flows, *tap);
    if (one == kFailed) return kFailed;
    if (one == kDamaged) status = kDamaged;
    if (stop_asked()) return fail(kCompare, Error{"stopped before both captures were read: no result"}, kFailed);
  }
  if (*filter)
    for (const Error& left_out : (*filter)->left_out(1)) say(kCompare, left_out.message);
  const Comparison comparison = compare(up, down, flows);
  return write(options, up, down, comparison, status);
}

int compare_files(const CompareOptions& options) {
  if (options.down.empty())
    return fail(kCompare, Error{"name two captures, UP and DOWN, or two interfaces with -i and --to"}, kUsage);
  if (std::error_code wrong; options.up == options.down || same_file(options.up, options.down) ||
                             std::filesystem::equivalent(options.up, options.down, wrong))
    return fail(kCompare, Error{options.up + " is named twice: name two points"}, kUsage);
  for (const std::string& input : {options.up, options.down})
    if (same_file(input, options.output))
      return fail(kCompare, Error{input + " is read from: name another file to write to"}, kUsage);
  return has_records(options.up) || has_records(options.down) ? compare_records(options) : compare_captures(options);
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
  compare
      ->add_option("--only", o->report.only,
                   "all, or lossy: only flows of which not every packet passed once, in order and unchanged")
      ->check(among({"all", "lossy"}))
      ->capture_default_str();
  compare
      ->add_option("--top", o->report.top, "Number of flows to show in text, those with the most losses first; 0: all")
      ->capture_default_str();
  compare->add_flag("--nat", o->nat, "Addresses and ports change on the way: pair packets by their contents alone");
  compare->add_option("--format", o->report.format, "text, csv (flows) or json")
      ->check(among({"text", "csv", "json"}))
      ->capture_default_str();
  compare->add_option("-o,--output", o->output, "File to write to, - for standard output")->capture_default_str();
  compare->callback([o, &status] {
    try {
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
