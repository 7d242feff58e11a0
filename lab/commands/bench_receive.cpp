// SPDX-License-Identifier: Apache-2.0
#include "lab/commands/bench_run.hpp"
#include "lab/receive/report.hpp"

namespace parshall::cli {
namespace {

struct ReceiveOptions {
  BenchOptions common;
  lab::ReceiveSweep sweep;
  std::vector<std::string> pools{"shared", "own"};
  std::string buffers = "16Ki";
};

Result<lab::ReceiveSweep> plan(const ReceiveOptions& options) {
  lab::ReceiveSweep sweep = options.sweep;
  sweep.rounds = options.common.rounds;
  sweep.seed = options.common.seed;
  const auto pools = choose_names<lab::Pools>(lab::kPoolsNames, options.pools, "pools");
  if (!pools) return pools.error();
  sweep.pools = *pools;
  const auto buffers = count_of("--buffers", options.buffers, lab::ReceiveShape::kMaxBuffers);
  if (!buffers) return buffers.error();
  sweep.buffers = *buffers;
  if (auto wrong = lab::wrong_receiving(sweep)) return *std::move(wrong);
  return sweep;
}

int run_receive(const ReceiveOptions& options) {
  const auto sweep = plan(options);
  if (!sweep) return wrong_usage(sweep.error());
  return run_sweep("receive", *sweep, lab::receive_columns(), lab::combinations(*sweep), lab::measure_receiving,
                   lab::receive_part, options.common);
}

}  // namespace

void add_bench_receive(Command bench, int& status) {
  Command receive = bench.add_subcommand("receive", "Cost of queues and packet-buffer pools, as memory alone shows it");
  receive->footer(
      "DPDK's own structures, without a device: packets get a buffer of a pool (rte_mempool) and come to queues\n"
      "(rte_ring) at random; one worker a core polls its queues in turn, touches each buffer and gives it back.\n"
      "The cost is of all that, putting packets on queues too; what a NIC and its bus cost is not in it.\n"
      "Interleaved rounds, thread CPU time, after following every packet and buffer. Ratios are to the first row.\n"
      "The cycles of polling and of get+put are from runs of their own, in which each call is timed alone: together\n"
      "they may exceed the whole, where calls overlap. Samples during which another core did not run count as\n"
      "disturbed: \"together\" is the share in which all ran. One queue on one core is the same with either kind of "
      "pool:\n"
      "what its two rows differ by is where memory came to lie, and no smaller difference means anything.");
  auto options = std::make_shared<ReceiveOptions>();
  const auto list = [&](const char* name, auto& values, const char* help) {
    receive->add_option(name, values, help)->delimiter(',')->capture_default_str();
  };
  list("--queues", options->sweep.queues, "Receive queues of a core");
  list("--pools", options->pools, "shared: one pool for all queues of all cores; own: one for each queue");
  list("--cache", options->sweep.cache, "Buffers of a pool that a core keeps to itself, 0 for none");
  list("--burst", options->sweep.burst, "Packets that a poll takes at most");
  list("--cores", options->sweep.cores, "Cores that receive at once, each from queues of its own");
  list("--arrivals", options->sweep.arrivals, "Packets that come to a core between two rounds of polling");
  receive->add_option("--buffers", options->buffers, "Buffers of a core, in all its pools")->capture_default_str();
  add_bench_options(receive, options->common);
  receive->callback([options, &status] { status = run_receive(*options); });
}

}  // namespace parshall::cli
