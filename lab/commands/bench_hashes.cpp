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
      "Keys are in cache, in batches of 64. Each hash is checked and then timed, in interleaved rounds and in\n"
      "thread CPU time. Ratios are to the first hash. Quality is measured for random five-tuples, and for\n"
      "clients and servers with consecutive addresses: the share of keys that collide, compared with an ideal\n"
      "hash of the same number of bits, and chi-square per degree of freedom of the buckets that the lowest or\n"
      "highest bits select (1 if random).");
  auto options = std::make_shared<HashesOptions>();
  hashes->add_option("--hashes", options->hashes, "Hashes; the first is the reference (all)")->delimiter(',');
  hashes->add_option("--input", options->inputs, "Part of the key to hash")
      ->delimiter(',')
      ->check(among(options->inputs))
      ->capture_default_str();
  hashes->add_option("--ip", options->ip_versions, "IP versions")
      ->delimiter(',')
      ->check(among({4, 6}))
      ->capture_default_str();
  hashes->add_option("--keys", options->keys, "Number of keys for the quality")->capture_default_str();
  add_bench_options(hashes, options->common);
  hashes->callback([options, &status] { status = run_hashes(*options); });
}

}  // namespace parshall::cli
