// SPDX-License-Identifier: Apache-2.0
#include "base/parse.hpp"
#include "lab/commands/bench_run.hpp"
#include "lab/parse/report.hpp"

namespace parshall::cli {
namespace {

struct ParseOptions {
  BenchOptions common;
  std::vector<std::string> accesses, traffic, memory{"1M", "1G"}, prefetch{"on", "off"};
};

Result<lab::ParseSweep> plan(const ParseOptions& options) {
  lab::ParseSweep sweep{.accesses = {},
                        .traffic = {},
                        .memory_bytes = {},
                        .prefetch = {},
                        .rounds = options.common.rounds,
                        .seed = options.common.seed};
  const auto accesses = choose(lab::header_accesses(), options.accesses, "access");
  if (!accesses) return accesses.error();
  sweep.accesses = *accesses;
  const auto traffic = choose(lab::frame_kinds(), options.traffic, "traffic");
  if (!traffic) return traffic.error();
  sweep.traffic = *traffic;
  for (const std::string& text : options.memory) {
    const auto bytes = parse_count(text);
    if (!bytes || *bytes < lab::FrameMemory::kLeastBytes)
      return Error{fmt::format("--memory {}: bytes of frames, at least {}, for example 1M or 1G", text,
                               lab::FrameMemory::kLeastBytes)};
    sweep.memory_bytes.push_back(*bytes);
  }
  for (const std::string& text : options.prefetch) {
    if (text != "on" && text != "off") return Error{fmt::format("--prefetch {}: on, off, or both", text)};
    sweep.prefetch.push_back(text == "on");
  }
  return sweep;
}

int run_parse(const ParseOptions& options) {
  const auto sweep = plan(options);
  if (!sweep) return wrong_usage(sweep.error());
  return run_sweep("parse", *sweep, lab::parse_columns(), lab::combinations(*sweep), lab::measure_parsing,
                   lab::parse_part, options.common);
}

}  // namespace

void add_bench_parse(Command bench, int& status) {
  Command parse = bench.add_subcommand("parse", "Cost of getting at a packet's identity, by how much is read of it");
  parse->footer(
      "Frames of 64 bytes (68 with a tag, 78 where IPv6) stand in memory, and are handed over from place to place in "
      "it.\n"
      "Interleaved rounds, thread CPU time, after checking that all read what the general decoder reads. Ratios are "
      "to\n"
      "the first row. Cycles are those of the time stamp counter.");
  auto options = std::make_shared<ParseOptions>();
  const auto list = [&](const char* name, auto& values, const char* help) {
    return parse->add_option(name, values, help)->delimiter(',');
  };
  list("--access", options->accesses, "What to read, first the one to compare with (all)");
  list("--traffic", options->traffic, "ipv4, ipv6, vlan (all)");
  list("--memory", options->memory, "Bytes of frames: few are in the caches, many are not")->capture_default_str();
  list("--prefetch", options->prefetch, "Headers asked for 32 packets early, as the monitor does: on, off")
      ->capture_default_str();
  add_bench_options(parse, options->common);
  parse->callback([options, &status] { status = run_parse(*options); });
}

}  // namespace parshall::cli
