// SPDX-License-Identifier: Apache-2.0
#include "lab/commands/bench_run.hpp"

namespace parshall::cli {

void add_bench(Command app, int& status) {
  Command bench = app.add_subcommand("bench", "The lab: measure the costs of methods on this machine");
  bench->require_subcommand(1);
  add_bench_tables(bench, status);
  add_bench_contention(bench, status);
  add_bench_pipeline(bench, status);
  add_bench_batch(bench, status);
  add_bench_advise(bench, status);
  add_bench_hashes(bench, status);
  add_bench_parse(bench, status);
  add_bench_profile(bench, status);
  add_bench_receive(bench, status);
  add_bench_models(bench, status);
  add_bench_classify(bench, status);
  add_bench_adaptive(bench, status);
  add_bench_heavy_hitters(bench, status);
  add_bench_overload(bench, status);
  add_bench_states(bench, status);
  add_bench_steps(bench, status);
}

}  // namespace parshall::cli
