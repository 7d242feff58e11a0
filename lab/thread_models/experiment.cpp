// SPDX-License-Identifier: Apache-2.0
#include "lab/thread_models/experiment.hpp"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <new>
#include <numeric>
#include <system_error>
#include <thread>

#include "base/figures/harness.hpp"
#include "engine/session.hpp"
#include "lab/thread_models/trace_queue.hpp"

namespace parshall::lab {
namespace {

constexpr std::chrono::milliseconds kProbeTime{200};
constexpr std::chrono::microseconds kLook{
    200};  ///< interval between checks for the end of a run; a shorter one would disturb the measurement

/// Results of one run.
struct SessionSample {
  double mpps, cpu_ns;
  std::uint64_t lost;
};

double process_cpu_ns() noexcept {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

/// The traffic, spread over as many receive queues as there are lanes.
class SessionTraffic {
 public:
  explicit SessionTraffic(const ModelSweep& sweep) noexcept : sweep_(&sweep) {}

  /// Returns the input of a device with one queue per lane: no packet comes to two workers.
  Input input(std::size_t lanes) {
    auto& spread = by_queues_[lanes];
    if (!spread) spread = std::make_shared<const SpreadTrace>(sweep_->trace, lanes);
    Input input{.description = sweep_->traffic, .sources = {}, .owner = nullptr, .device = nullptr};
    for (std::size_t queue = 0; queue < lanes; ++queue)
      input.sources.push_back(std::make_unique<QueueOfTrace>(spread, queue, sweep_->packets, kTrafficStartNs));
    return input;
  }

 private:
  const ModelSweep* sweep_;
  std::map<std::size_t, std::shared_ptr<const SpreadTrace>> by_queues_;
};

SessionOptions options_of(const ModelSweep& sweep, const ModelRow& row) {
  SessionOptions options;
  options.threads.model = row.model->model;
  if (row.model->threads(row.workers) <= row.cores && !row.scheduler->shares()) options.threads.cores = usable_cores();
  options.workers = row.workers;
  options.seed = sweep.seed;
  options.snapshots = false;
  options.table = sweep.table;
  options.stage.flows = sweep.flows;
  return options;
}

Result<SessionSample> run_session(const ModelSweep& sweep, const ModelRow& row, Input input) {
  const Schema schema;
  SessionOptions options = options_of(sweep, row);
  options.commits_first = true;
  // As for a source that cannot wait, all memory is committed before the clock starts.
  Session session(std::move(input), options, schema, Session::make_stages(options, schema, /*can_wait=*/false));
  const auto start = std::chrono::steady_clock::now();
  const double cpu_start = process_cpu_ns();
  const std::vector<pid_t> others = threads_of_process();
  if (auto error = session.start()) return *std::move(error);
  if (row.scheduler->shares())
    if (auto error = use_policy_but_for(*row.scheduler, others)) return *std::move(error);
  while (!session.finished()) std::this_thread::sleep_for(kLook);
  const double cpu_ns = process_cpu_ns() - cpu_start;
  const double ns = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();

  const Accounting total = session.final_report().summary.total;
  if (!total.balanced() || total.offered() != sweep.packets)
    return Error{fmt::format("{}: of {} packets, {} were polled, {} counted, {} in flows and {} lost", name_of(row),
                             sweep.packets, total[Counter::polled], total.counted(),
                             total[Counter::live_flow_packets] + total[Counter::ended_record_packets], total.lost())};
  const auto packets = static_cast<double>(sweep.packets);
  return SessionSample{.mpps = packets / ns * 1e3, .cpu_ns = cpu_ns / packets, .lost = total.lost()};
}

/// Runs in a thread of its own, so that its scheduling policy ends with it.
Result<SessionSample> run_once(const ModelSweep& sweep, const ModelRow& row, SessionTraffic& traffic) {
  Result<SessionSample> sample = Error{};
  Input input = traffic.input(row.model->model == ThreadModel::pipeline ? 1 : row.workers);
  std::thread([&] {
    try {
      auto error = row.scheduler->shares() ? std::nullopt : use_policy(*row.scheduler);
      sample = error ? Result<SessionSample>(*std::move(error)) : run_session(sweep, row, std::move(input));
    } catch (const std::bad_alloc&) {
      sample = Error{fmt::format("not enough memory for the flows of {}: ask for fewer with -g", name_of(row))};
    } catch (const std::system_error& refused) {
      sample = Error{fmt::format("{}: {}", name_of(row), refused.what())};
    }
  }).join();
  return sample;
}

Result<std::vector<ModelRow>> plan(const ModelSweep& sweep) {
  const std::vector<unsigned> cores = usable_cores();
  if (const std::size_t most = std::ranges::max(sweep.workers); most > cores.size() && !sweep.oversubscribe)
    return Error{fmt::format(
        "{} workers were requested, but this process may use {} core{}: give fewer with --workers, or --oversubscribe",
        most, cores.size(), cores.size() == 1 ? "" : "s")};
  std::vector<ModelRow> rows;
  for (const SchedulingPolicy* scheduler : sweep.schedulers) {
    const auto gaps = measure_gaps(*scheduler, cores.back(), 2, kProbeTime);
    if (!gaps) return gaps.error();
    const auto alone = measure_gaps(*scheduler, cores.back(), 1, kProbeTime);
    if (!alone) return alone.error();
    for (const std::size_t workers : sweep.workers)
      for (const ThreadModelEntry* model : sweep.models)
        rows.push_back({.model = model,
                        .scheduler = scheduler,
                        .workers = workers,
                        .cores = cores.size(),
                        .mpps = {},
                        .ratio = {},
                        .gaps = *gaps,
                        .gaps_alone = *alone});
  }
  return rows;
}

/// Summarizes the rounds that all rows have.
void summarize(std::vector<ModelRow>& rows, const std::vector<std::vector<SessionSample>>& samples,
               std::size_t rounds) {
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::vector<double> mpps, ratios, cpu_ns;
    for (std::size_t round = 0; round < rounds; ++round) {
      const SessionSample& sample = samples[r][round];
      mpps.push_back(sample.mpps);
      ratios.push_back(sample.mpps / samples.front()[round].mpps);
      cpu_ns.push_back(sample.cpu_ns);
      rows[r].lost += sample.lost;
    }
    rows[r].mpps = estimate(std::move(mpps));
    rows[r].ratio = estimate(std::move(ratios));
    rows[r].cpu_ns = estimate(std::move(cpu_ns)).median;
    rows[r].samples = rounds;
  }
}

}  // namespace

std::string name_of(const ModelRow& row) {
  return fmt::format("{}, {} worker{}, {}", row.model->name, row.workers, row.workers == 1 ? "" : "s",
                     row.scheduler->name);
}

Result<std::vector<ModelRow>> measure_models(const ModelSweep& sweep, const std::function<bool()>& stop) {
  auto rows = plan(sweep);
  if (!rows) return rows.error();
  SessionTraffic traffic(sweep);
  std::vector<std::vector<SessionSample>> samples(rows->size());
  std::vector<std::size_t> order(rows->size());
  std::iota(order.begin(), order.end(), 0u);
  SplitMix64 random(sweep.seed);
  int done = -1;  // the first round is a warm-up
  for (; done < sweep.rounds; ++done) {
    for (const std::size_t r : order) {
      if (stop()) break;
      const auto sample = run_once(sweep, (*rows)[r], traffic);
      if (!sample) return sample.error();
      if (done >= 0) samples[r].push_back(*sample);
    }
    if (stop()) break;
    std::shuffle(order.begin(), order.end(), random);
  }
  if (done <= 0) return std::vector<ModelRow>();
  summarize(*rows, samples, static_cast<std::size_t>(done));
  return rows;
}

}  // namespace parshall::lab
