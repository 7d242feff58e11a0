// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <new>
#include <random>
#include <string>

#include "app/commands.hpp"
#include "app/compare_report.hpp"
#include "base/same_file.hpp"
#include "cli/messages.hpp"
#include "cli/signals.hpp"
#include "compare/comparison.hpp"
#include "pipeline/capture/pcap_file.hpp"
#include "pipeline/decode/layers.hpp"
#include "pipeline/output/output.hpp"

namespace parshall::cli {
namespace {

constexpr const char* kCompare = "compare";

struct CompareOptions {
  std::string up, down;
  bool nat = false;
  CompareReport report;
  std::string output = "-";
};

/// Reads a capture. Returns the status; anything but kDone was reported.
ExitStatus read(const std::string& path, const PacketIds& ids, FlowNumbers& flows, Tap& tap) {
  tap.name = path == "-" ? "standard input" : path;
  auto sources = open_capture_file(path, 1);
  if (!sources) return fail(kCompare, sources.error(), kFailed), kFailed;
  PacketSource& source = *sources->front();
  read_tap(source, ids, stop_asked, flows, tap);
  if (const auto damage = source.damage()) return fail(kCompare, *damage, kDamaged), kDamaged;
  return kDone;
}

std::uint64_t random_seed() {
  std::random_device random;
  return std::uint64_t{random()} << 32 | random();
}

int run_compare(const CompareOptions& options) {
  if (options.up == options.down || same_file(options.up, options.down))
    return fail(kCompare, Error{options.up + " is named twice: name the captures of two points"}, kUsage);
  for (const std::string& input : {options.up, options.down})
    if (same_file(input, options.output))
      return fail(kCompare, Error{input + " is read from: name another file to write to"}, kUsage);
  catch_signals();
  const PacketIds ids(random_seed(), options.nat ? OnTheWay::translated : OnTheWay::forwarded);
  FlowNumbers flows(random_seed());
  Tap up, down;
  ExitStatus status = kDone;
  for (auto [path, tap] : {std::pair(&options.up, &up), std::pair(&options.down, &down)}) {
    const ExitStatus one = read(*path, ids, flows, *tap);
    if (one == kFailed) return kFailed;
    if (one == kDamaged) status = kDamaged;
    if (stop_asked()) return fail(kCompare, Error{"stopped before both captures were read: no result"}, kFailed);
  }
  const Comparison comparison = compare(up, down, flows);
  auto output = Output::open(options.output);
  if (!output) return fail(kCompare, output.error(), kFailed);
  options.report.write(up, down, comparison, **output);
  (*output)->finish();
  if ((*output)->reader_gone()) return kReaderGone;
  if (const auto& error = (*output)->error()) return fail(kCompare, *error, kFailed);
  return status;
}

}  // namespace

void add_compare(Command app, int& status) {
  Command compare = app.add_subcommand("compare", "Find what was lost between two points, and how long packets took");
  compare->footer(
      "Compares two captures of the same traffic packet by packet: UP was made before a device or a network, DOWN\n"
      "behind it. Reports for each direction and flow what was lost, duplicated or reordered, and the delays.\n"
      "Clocks may differ: traffic in both directions tells by how much. Takes some 100 bytes of memory for each "
      "packet.");
  auto o = std::make_shared<CompareOptions>();
  compare->add_option("UP", o->up, "Capture before it: pcap, pcapng or ERF; - for standard input")->required();
  compare->add_option("DOWN", o->down, "Capture behind it")->required();
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
      status = run_compare(*o);
    } catch (const std::bad_alloc&) {
      status = fail(kCompare,
                    Error{"not enough memory: it takes some 100 bytes for each packet; compare parts of the "
                          "captures (editcap -A, -B)"},
                    kFailed);
    }
  });
}

}  // namespace parshall::cli
