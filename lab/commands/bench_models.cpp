// SPDX-License-Identifier: Apache-2.0
#include "base/parse.hpp"
#include "cli/messages.hpp"
#include "lab/commands/bench_run.hpp"
#include "lab/thread_models/report.hpp"

namespace parshall::cli {
namespace {

struct ModelsOptions {
  BenchOptions common;
  std::vector<std::string> models, schedulers{"other"};
  std::vector<std::size_t> workers{1, 2};
  std::string traffic = "flows=65536", packets = "8M";
  bool oversubscribe = false;
};

/// Returns the sweep without the trace; schedulers may still be refused.
Result<lab::ModelSweep> plan(const ModelsOptions& options) {
  constexpr std::uint64_t kMostPackets = 1ull << 40;
  constexpr std::size_t kMostWorkers = 256;
  lab::ModelSweep sweep{.models = {},
                        .workers = options.workers,
                        .schedulers = {},
                        .traffic = options.traffic,
                        .rounds = options.common.rounds,
                        .seed = options.common.seed,
                        .oversubscribe = options.oversubscribe};
  const auto models = choose(thread_models(), options.models, "model");
  if (!models) return models.error();
  sweep.models = *models;
  const auto schedulers = choose(lab::scheduling_policies(), options.schedulers, "scheduler");
  if (!schedulers) return schedulers.error();
  sweep.schedulers = *schedulers;
  for (const std::size_t workers : sweep.workers)
    if (workers < 1 || workers > kMostWorkers)
      return Error{fmt::format("--workers {}: from 1 to {}", workers, kMostWorkers)};
  const auto packets = parse_count(options.packets);
  if (!packets || *packets < 1 || *packets > kMostPackets)
    return Error{fmt::format("--packets {}: from 1 to {} per run, for example 8M", options.packets, kMostPackets)};
  sweep.packets = *packets;
  const auto table = find_table("bucketed", Identity::exact);
  if (!table) return table.error();
  sweep.table = *table;
  return sweep;
}

/// Reports refused schedulers, and removes them.
void drop_refused(lab::ModelSweep& sweep) {
  std::erase_if(sweep.schedulers, [](const lab::SchedulingPolicy* policy) {
    const auto error = lab::refused(*policy);
    if (error) say("bench", fmt::format("no rows for {}: {}", policy->name, error->message));
    return error.has_value();
  });
}

int run_models(const ModelsOptions& options) {
  auto sweep = plan(options);
  if (!sweep) return wrong_usage(sweep.error());
  const auto spec = TrafficSpec::parse(options.traffic);
  if (!spec) return wrong_usage(spec.error());
  drop_refused(*sweep);
  if (sweep->schedulers.empty()) return kFailed;
  const auto measure = [&](const auto& done, const auto& stop) -> Result<std::size_t> {
    auto trace = Trace::make(*spec);
    if (!trace) return trace.error();
    sweep->trace = std::make_shared<const Trace>(*std::move(trace));
    sweep->flows = spec->flows;
    const auto rows = lab::measure_models(*sweep, stop);
    if (!rows) return rows.error();
    if (rows->empty()) return std::size_t{0};
    const lab::Part part = lab::model_part(*sweep, *rows);
    done(part);
    if (!part.verdict.empty()) say("bench", part.verdict);
    return std::size_t{1};
  };
  return run_experiment({.name = "models", .columns = lab::model_columns(), .parts = 1, .measure = measure},
                        options.common);
}

}  // namespace

void add_bench_models(Command bench, int& status) {
  Command models = bench.add_subcommand("models", "Throughput of the thread models, by workers and scheduler");
  models->footer(fmt::format(
      "The whole monitor runs over built-in traffic that is spread over the workers' queues as by a device, in\n"
      "interleaved rounds. Each run's account must balance. Mpps are by the wall clock, CPU ns per packet over\n"
      "all threads, and ratios are ratios of Mpps to the first row. The source waits, so no packet is lost in a\n"
      "full ring. The loss of a scheduler is modelled: two threads under it poll on one core for 200 ms\n"
      "(deadline: on any core, because it cannot be pinned). The gaps are times between polls: the 99.9th\n"
      "percentile and the maximum. The modelled loss is the share of packets that arrive evenly at {} Mpps at a\n"
      "queue of {} packets, the ring of a device, while it is full. \"Alone\" is the same for one thread.",
      lab::PollGaps::kRateMpps, lab::PollGaps::kQueuePackets));
  auto options = std::make_shared<ModelsOptions>();
  const auto list = [&](const char* name, auto& values, const char* help) {
    return models->add_option(name, values, help)->delimiter(',');
  };
  list("--model", options->models, "run-to-completion, pipeline, cooperative (all)");
  list("--workers", options->workers, "Number of workers; a pipeline has one more thread")->capture_default_str();
  list("--scheduler", options->schedulers, "other, fifo, rr, deadline; all but the first need CAP_SYS_NICE")
      ->capture_default_str();
  models->add_flag("--oversubscribe", options->oversubscribe, "Allow more workers than cores");
  models->add_option("-g,--generate", options->traffic, "Built-in traffic, as in watch")->capture_default_str();
  models->add_option("--packets", options->packets, "Packets of a run")->capture_default_str();
  add_bench_options(models, options->common);
  models->callback([options, &status] { status = run_models(*options); });
}

}  // namespace parshall::cli
