// SPDX-License-Identifier: Apache-2.0
#include "base/parse.hpp"
#include "lab/commands/bench_run.hpp"
#include "lab/hashes/report.hpp"

namespace parshall::cli {
namespace {

struct HashesOptions {
  std::vector<std::string> hashes;
  std::vector<std::string> inputs{lab::kHashInputNames, lab::kHashInputNames + kHashInputs};
  std::vector<unsigned> ip_versions{4, 6};
  std::string keys = "64Ki";
  BenchOptions common;
};

Result<lab::HashSweep> plan(const HashesOptions& options) {
  lab::HashSweep sweep{.hashes = {},
                       .inputs = {},
                       .ip_versions = options.ip_versions,
                       .rounds = options.common.rounds,
                       .seed = options.common.seed};
  for (const std::string& name : options.hashes) {
    const auto hash = find_hash(name);
    if (!hash) return hash.error();
    sweep.hashes.push_back(*hash);
  }
  if (options.hashes.empty())
    for (const HashFunction& hash : hash_registry())
      if (hash.available()) sweep.hashes.push_back(&hash);
  for (const std::string& name : options.inputs) {
    const auto found = std::ranges::find(lab::kHashInputNames, name);
    sweep.inputs.push_back(static_cast<HashInput>(found - std::begin(lab::kHashInputNames)));
  }
  const auto keys = parse_count(options.keys);
  if (!keys || *keys < 2 || *keys > lab::HashSweep::kMaxKeys)
    return Error{fmt::format("--keys {}: from 2 to {} keys, for example 65536, 64Ki or 1M", options.keys,
                             lab::HashSweep::kMaxKeys)};
  sweep.keys = *keys;
  if (lab::comparisons(sweep) == 0) return Error{"none of these hashes takes these inputs (parshall list hashes)"};
  return sweep;
}

int run_hashes(const HashesOptions& options) {
  const auto sweep = plan(options);
  if (!sweep) return wrong_usage(sweep.error());
  return run_sweep("hashes", *sweep, lab::hash_columns(), lab::comparisons(*sweep), lab::measure_hashes, lab::hash_part,
                   options.common);
}

}  // namespace

void add_bench_hashes(Command bench, int& status) {
  Command hashes = bench.add_subcommand("hashes", "Cost and quality of hashing a key, by hash");
  hashes->footer(
      "Keys are in cache, in batches of 64; each hash is checked before it is timed, in interleaved rounds and in "
      "thread\n"
      "CPU time. Ratios are to the first hash. Quality is of random five-tuples, then of clients and servers whose\n"
      "addresses stand in a row: the share of keys whose word another one has, beside that of an ideal hash of as "
      "many\n"
      "bits, and chi-square per degree of freedom of the buckets that the lowest or highest bits name, 1 if random.");
  auto options = std::make_shared<HashesOptions>();
  hashes->add_option("--hashes", options->hashes, "Which, first the one to compare with (all)")->delimiter(',');
  hashes->add_option("--input", options->inputs, "What of a key is hashed")
      ->delimiter(',')
      ->check(among(options->inputs))
      ->capture_default_str();
  hashes->add_option("--ip", options->ip_versions, "IP versions")
      ->delimiter(',')
      ->check(among({4, 6}))
      ->capture_default_str();
  hashes->add_option("--keys", options->keys, "Keys that the quality is taken over")->capture_default_str();
  add_bench_options(hashes, options->common);
  hashes->callback([options, &status] { status = run_hashes(*options); });
}

}  // namespace parshall::cli
