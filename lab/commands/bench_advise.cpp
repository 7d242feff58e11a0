// SPDX-License-Identifier: Apache-2.0
#include "base/parse.hpp"
#include "cli/messages.hpp"
#include "cli/signals.hpp"
#include "lab/commands/bench_run.hpp"
#include "lab/monitors/advice.hpp"
#include "pipeline/output/output.hpp"

namespace parshall::cli {
namespace {

struct AdviseOptions {
  std::string file, traffic, memory, rate, output = "-";
  lab::Wish wish;
};

/// Returns the wish, with values that the options give as text.
Result<lab::Wish> wish_of(const AdviseOptions& options) {
  lab::Wish wish = options.wish;
  if (!options.memory.empty()) {
    const auto bytes = parse_count(options.memory);
    if (!bytes || *bytes == 0) return Error{fmt::format("--memory {}: bytes, for example 2Gi", options.memory)};
    wish.memory_bytes = *bytes;
  }
  if (!options.rate.empty()) {
    const auto rate = parse_count(options.rate);
    if (!rate || *rate == 0) return Error{fmt::format("--rate {}: packets a second, for example 10M", options.rate)};
    wish.rate_pps = static_cast<double>(*rate);
  }
  if (!(wish.merges >= 0)) return Error{fmt::format("--merges {}: a number from 0", wish.merges)};
  if (const auto known = make_statistics(wish.statistics, {}); !known) return known.error();
  return wish;
}

/// Writes the text; returns an error if that failed.
std::optional<Error> write_to(const std::string& path, const std::string& text) {
  auto output = Output::open(path);
  if (!output) return output.error();
  (*output)->write(text);
  (*output)->flush();
  return (*output)->error();
}

int run_advise(const AdviseOptions& options) {
  const auto wish = wish_of(options);
  if (!wish) return wrong_usage(wish.error());
  if (options.file.empty() == options.traffic.empty())
    return wrong_usage({"advise needs traffic: a capture (-r FILE) or built-in traffic (-g SPEC)"});
  const auto frames = open_frames(options.file, options.traffic);
  if (!frames) {
    say("bench", frames.error().message);
    return options.file.empty() ? kUsage : kFailed;
  }
  catch_signals();
  const auto advice = lab::advise(
      *wish, *frames, options.file.empty() ? options.traffic : options.file,
      [](const std::string& line) { say("bench", line); }, stop_asked);
  if (!advice || !*advice) {
    say("bench", advice ? "stopped before any result" : advice.error().message);
    return kFailed;
  }
  const auto wrong = write_to(options.output, lab::to_toml(**advice));
  if (!wrong) return kDone;
  say("bench", wrong->message + "; the advice goes to standard output");
  if (const auto lost = write_to("-", lab::to_toml(**advice))) say("bench", lost->message);
  return kFailed;
}

}  // namespace

void add_bench_advise(Command bench, int& status) {
  Command advise = bench.add_subcommand("advise", "Recommend a table, sizes and a batch for given traffic");
  advise->footer(
      "Measures every table of the monitor on the traffic. The output is a file for parshall watch --config.");
  auto options = std::make_shared<AdviseOptions>();
  auto file = advise->add_option("-r,--read", options->file, "Capture file that resembles the expected traffic");
  advise->add_option("-g,--generate", options->traffic, "Built-in traffic, as in watch")->excludes(file);
  advise->add_option("--merges", options->wish.merges, "Expected number of merged flows to accept; 0: none")
      ->capture_default_str();
  advise->add_option("--memory", options->memory, "Largest size of all tables: 512Mi, 2Gi, ... (no limit)");
  advise->add_option("--cores", options->wish.cores, "Cores available for workers")
      ->check(in_range(1, 256))
      ->capture_default_str();
  advise->add_option("--rate", options->rate, "Packets per second to handle: 10M, ... (not known: one worker)");
  advise->add_option("--columns", options->wish.statistics, "Statistics to keep: gap_mean,iat_p99,...")->delimiter(',');
  advise->add_option("--rounds", options->wish.rounds, "Samples of each variant")
      ->check(in_range(6, 10'000))
      ->capture_default_str();
  advise->add_option("--seed", options->wish.seed, "Seed of the hash")->capture_default_str();
  advise->add_option("-o,--output", options->output, "File to write to, - for standard output")->capture_default_str();
  advise->callback([options, &status] { status = run_advise(*options); });
}

}  // namespace parshall::cli
