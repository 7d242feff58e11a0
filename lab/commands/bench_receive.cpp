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
  Command receive =
      bench.add_subcommand("receive", "Cost of queues and packet-buffer pools in memory, without a device");
  receive->footer(
      "Uses DPDK's structures without a device. Packets get a buffer from a pool (rte_mempool) and arrive at\n"
      "queues (rte_ring) in random order. One worker per core polls its queues in turn, touches each buffer and\n"
      "returns it. The cost includes all of that and putting packets on queues, but not the cost of a NIC and\n"
      "its bus. Times are thread CPU time in interleaved rounds, after a run that follows every packet and\n"
      "buffer. Ratios are to the first row. The cycles of polling and of get+put come from separate runs that\n"
      "time each call alone. Their sum may exceed the whole, because calls overlap. A sample is disturbed if\n"
      "another core did not run during it. \"together\" is the share of samples in which all ran. With one\n"
      "queue on one core, both kinds of pool are the same: their two rows differ only by the placement of\n"
      "memory, so smaller differences are not significant.");
  auto options = std::make_shared<ReceiveOptions>();
  const auto list = [&](const char* name, auto& values, const char* help) {
    receive->add_option(name, values, help)->delimiter(',')->capture_default_str();
  };
  list("--queues", options->sweep.queues, "Receive queues per core");
  list("--pools", options->pools, "shared: one pool for all queues of all cores; own: one for each queue");
  list("--cache", options->sweep.cache, "Buffers of a pool that a core caches, 0 for none");
  list("--burst", options->sweep.burst, "Largest number of packets per poll");
  list("--cores", options->sweep.cores, "Number of cores that receive at the same time, each from its own queues");
  list("--arrivals", options->sweep.arrivals, "Packets that arrive at a core between two rounds of polling");
  receive->add_option("--buffers", options->buffers, "Buffers per core, in all its pools")->capture_default_str();
  add_bench_options(receive, options->common);
  receive->callback([options, &status] { status = run_receive(*options); });
}

}  // namespace parshall::cli
