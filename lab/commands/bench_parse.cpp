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
  Command parse = bench.add_subcommand("parse", "Cost of reading a packet's identity, by what is read");
  parse->footer(
      "Frames of 64 bytes (68 with a tag, 78 with IPv6) are in memory and are read at changing places. Times\n"
      "are thread CPU time in interleaved rounds, after a check that all give the same results as the general\n"
      "decoder. Ratios are to the first row. Cycles are those of the time stamp counter.");
  auto options = std::make_shared<ParseOptions>();
  const auto list = [&](const char* name, auto& values, const char* help) {
    return parse->add_option(name, values, help)->delimiter(',');
  };
  list("--access", options->accesses, "What to read; the first is the reference (all)");
  list("--traffic", options->traffic, "ipv4, ipv6, vlan (all)");
  list("--memory", options->memory, "Memory of all frames: a small one fits in the caches, a large one does not")
      ->capture_default_str();
  list("--prefetch", options->prefetch, "Prefetch of headers 32 packets ahead, as in the monitor: on, off")
      ->capture_default_str();
  add_bench_options(parse, options->common);
  parse->callback([options, &status] { status = run_parse(*options); });
}

}  // namespace parshall::cli
