// SPDX-License-Identifier: Apache-2.0
#include "lab/adaptive/experiment.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <optional>
#include <thread>
#include <vector>

#include "lab/adaptive/accuracy.hpp"
#include "lab/adaptive/losses.hpp"
#include "lab/adaptive/outcome.hpp"
#include "lab/adaptive/patient_source.hpp"
#include "lab/adaptive/stretches.hpp"
#include "lab/cores/co_runners.hpp"
#include "lab/cores/scheduling.hpp"
#include "parshall/run.hpp"
#include "traffic/paced_source.hpp"
#include "traffic/work_clock.hpp"

namespace parshall::lab {
namespace {

constexpr std::chrono::microseconds kTick{200};
constexpr std::uint64_t kPastNs = 500'000'000;  ///< history before a stretch, for its truth
constexpr double kCapacityS = 5;                ///< length of the run that measures a worker's capacity

double resident_bytes() {
  std::size_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

/// Configuration of a worker for a run.
struct Way {
  const OverloadPolicyEntry* mode;
  std::uint32_t filter_bytes = 0;
  std::size_t slots = AdaptiveSweep::kSlots;
};

/// Returns the way of a run in which packets wait.
Way patiently() { return {&no_adaptation()}; }

class Experiment {
 public:
  Experiment(const AdaptiveSweep& sweep, const StateConfig& config) : sweep_(sweep), config_(config) {}

  std::optional<Error> prepare() {
    std::string text(config_.states);
    for (const auto& [name, spec] : adaptive_tasks())
      for (std::size_t at; (at = text.find(quoted(name))) != text.npos;)
        text.replace(at, name.size() + 2, '"' + std::string(spec) + '"');
    plan_.source.traffic = "flows=1,pace=1000";  // replaced by the source handed to run()
    plan_.flows.seed = sweep_.seed;
    plan_.tasks.states = config_.name;
    held_.texts.states = std::move(text);
    plan_.tasks.recall = sweep_.threshold;
    plan_.tasks.window = fmt::format("{}ns", kWindowNs);
    plan_.tasks.keys = std::size_t{1} << 19;
    plan_.threads.cores = {usable_cores().front()};
    const auto checked = wire(plan_, {}, held_);
    if (!checked) return checked.error();
    return std::nullopt;
  }

  /// Runs until the packets' time is over; `meanwhile` is called regularly.
  Result<Outcome> run(
      std::unique_ptr<PacketSource> source, Way way, double seconds, const Stretches& kept,
      const std::function<void()>& meanwhile = [] {}) const {
    Plan plan = plan_;
    plan.flows.flows = way.slots;
    plan.flows.flood_filter_bytes = way.filter_bytes;
    plan.tasks.overload = way.mode->name;
    auto wiring = wire(plan,
                       {.snapshots = false,
                        .keeps_ended = false,
                        .commits_first = true,
                        .recall = true,
                        .packets_ns = static_cast<std::uint64_t>(seconds * 1e9)},
                       held_);
    if (!wiring) return wiring.error();
    OutcomeTaker events(kept);  // made before the run, which may still report events as it ends
    auto run = Run::open(plan, *std::move(wiring), [&]() -> Result<Input> {
      Input input{.description = "an experiment",
                  .sources = {},
                  .dealing = Dealing::by_device,
                  .owner = nullptr,
                  .device = nullptr};
      input.sources.push_back(std::move(source));
      return input;
    });
    if (!run) return run.error();
    (*run)->outputs().add_direct(events);
    if (auto error = (*run)->start()) return *error;
    while (!(*run)->session().finished()) {
      meanwhile();
      std::this_thread::sleep_for(kTick);
    }
    const Report report = (*run)->finish();
    Outcome outcome = std::move(events).outcome();
    outcome.summary = report.summary;
    return outcome;
  }

 private:
  static std::string quoted(std::string_view name) { return '"' + std::string(name) + '"'; }

  const AdaptiveSweep& sweep_;
  const StateConfig& config_;
  Plan plan_;
  Held held_;
};

/// Runs of one configuration and one round.
class Round {
 public:
  Round(const AdaptiveSweep& sweep, const StateConfig& config, const Experiment& experiment, int round)
      : sweep_(sweep),
        config_(config),
        experiment_(experiment),
        seed_(sweep.seed + static_cast<std::uint64_t>(round)) {}

  Result<std::vector<AdaptiveRow>> measure(const AdaptiveScenario& scenario, const std::function<bool()>& stop) const {
    auto trace = trace_of(scenario.skew, 0);
    if (!trace) return trace.error();
    const auto capacity_pps = capacity(*trace);
    if (!capacity_pps) return capacity_pps.error();
    std::vector<AdaptiveRow> rows;
    for (const double flood : scenario.floods) {
      if (flood != 0) trace = trace_of(scenario.skew, flood);
      if (!trace) return trace.error();
      for (const double load : loads_of(scenario, *capacity_pps))
        if (const auto error = measure_load(scenario, *trace, {flood, load, *capacity_pps}, stop, rows)) return *error;
    }
    return rows;
  }

 private:
  /// Traffic of a run.
  struct Load {
    double flood, load, capacity_pps;
  };

  std::vector<double> loads_of(const AdaptiveScenario& scenario, double capacity_pps) const {
    std::vector<double> loads = sweep_.rates_pps;
    for (double& load : loads) load /= capacity_pps;
    if (loads.empty()) loads = sweep_.loads.empty() ? scenario.loads : sweep_.loads;
    return loads;
  }

  std::optional<Error> measure_load(const AdaptiveScenario& scenario, const std::shared_ptr<const Trace>& trace,
                                    Load load, const std::function<bool()>& stop,
                                    std::vector<AdaptiveRow>& rows) const {
    const Pace pace(load.load * load.capacity_pps, scenario.swing_s, scenario.least_load * load.capacity_pps);
    const Stretches judged = judged_stretches(sweep_);
    const auto truth = truth_of(trace, pace, judged);
    if (!truth) return truth.error();
    for (const std::uint64_t queue : sweep_.queues)
      for (const std::uint32_t filter_bytes : scenario.filters)
        for (const std::size_t slots : sweep_.slots)
          for (const OverloadPolicyEntry* mode : sweep_.modes) {
            if (stop()) return std::nullopt;
            const auto row = run(scenario, trace, pace, queue, {mode, filter_bytes, slots}, *truth, judged);
            if (!row) return row.error();
            rows.push_back(*row);
            rows.back().flood = load.flood;
            rows.back().load = load.load;
            rows.back().mpps = load.load * load.capacity_pps * 1e-6;
          }
    return std::nullopt;
  }

  /// Returns the truth in stretches, including the time before each, so that flows have a history.
  Result<Outcome> truth_of(const std::shared_ptr<const Trace>& trace, Pace pace, const Stretches& judged) const {
    if (sweep_.stretches == 0)
      return experiment_.run(std::make_unique<PatientSource>(trace, pace, 0), patiently(), sweep_.seconds, judged);
    Outcome truth;
    for (const Stretch& stretch : judged) {
      const std::uint64_t begin_ns = stretch.first * kWindowNs - kTrafficStartNs;
      const std::uint64_t from_ns = begin_ns - std::min(begin_ns, kPastNs);
      const double seconds = static_cast<double>((stretch.last + 2) * kWindowNs - kTrafficStartNs - from_ns) * 1e-9;
      auto part =
          experiment_.run(std::make_unique<PatientSource>(trace, pace, from_ns), patiently(), seconds, {stretch});
      if (!part) return part.error();
      for (auto& [task, found] : part->found) std::ranges::copy(found, std::back_inserter(truth.found[task]));
    }
    return truth;
  }

  static Result<TrafficSpec> spec_of(std::string_view skew) {
    return TrafficSpec::parse("protocol=connections,dist=" + std::string(skew));
  }

  Result<std::shared_ptr<const Trace>> trace_of(std::string_view skew, double flood) const {
    const auto spec = spec_of(skew);
    if (!spec) return spec.error();
    TrafficSpec wanted = *spec;
    wanted.flows = sweep_.flows;
    wanted.packets = sweep_.trace_packets;
    wanted.resend_share = sweep_.resend_share;
    wanted.flood_share = flood;
    wanted.seed = seed_;
    auto trace = Trace::make(wanted);
    if (!trace) return trace.error();
    return std::make_shared<const Trace>(*std::move(trace));
  }

  std::unique_ptr<PacedSource> source(std::shared_ptr<const Trace> trace, Pace pace, std::uint64_t queue,
                                      const std::shared_ptr<WorkClock>& clock) const {
    return std::make_unique<PacedSource>(
        std::move(trace), pace, queue, kTrafficStartNs, [clock] { return clock->now_ns(); },
        PacedSource::Time{[clock](std::uint64_t ns) { clock->wait(ns); },
                          [clock](std::uint64_t ns) { clock->leave_out(ns); }});
  }

  /// Returns load 1 in packets per second: the worker's rate in the median window while its queue is never empty,
  /// without the first windows, in which flows begin.
  Result<double> capacity(const std::shared_ptr<const Trace>& trace) const {
    constexpr double kEndlessPps = 1e9;
    const auto outcome = experiment_.run(source(trace, Pace(kEndlessPps), 4096, std::make_shared<WorkClock>()),
                                         patiently(), std::min(sweep_.seconds, kCapacityS), {});
    if (!outcome) return outcome.error();
    std::vector<std::uint64_t> packets(
        outcome->packets.begin() + static_cast<std::ptrdiff_t>(outcome->packets.size() / 3), outcome->packets.end());
    std::ranges::sort(packets);
    if (packets.empty() || packets[packets.size() / 2] == 0)
      return Error{"no packet arrived in a run: give more --seconds"};
    return kBusyAtLoad1 * static_cast<double>(packets[packets.size() / 2]) * (1e9 / kWindowNs);
  }

  Result<AdaptiveRow> run(const AdaptiveScenario& scenario, const std::shared_ptr<const Trace>& trace, Pace pace,
                          std::uint64_t queue, Way way, const Outcome& truth, const Stretches& judged) const {
    const auto clock = std::make_shared<WorkClock>();
    auto paced = source(trace, pace, queue, clock);
    const auto counts = paced->counts();
    const auto losses = paced->losses(kWindowNs);
    std::optional<CoRunners> neighbour;
    if (scenario.neighbour) {
      const std::vector<unsigned> cores = usable_cores();
      if (cores.size() < 2) return Error{"a neighbour needs its own core, but this process may use only one"};
      const int core = static_cast<int>(cores[1]);
      neighbour.emplace(std::span(&core, 1),
                        std::vector{std::ranges::find(neighbours(), "cache", &Neighbour::name)->make()});
    }
    bool fights = false;
    double early_bytes = 0, late_bytes = 0;  // resident memory
    const auto outcome = experiment_.run(std::move(paced), way, sweep_.seconds, judged, [&] {
      const Counters now = counts->counters();
      const double part =
          static_cast<double>(now[Counter::nic_received] + now[Counter::nic_missed]) / pace.packets_by(sweep_.seconds);
      if (part >= 0.1 && early_bytes == 0) early_bytes = resident_bytes();
      if (part >= 0.9) late_bytes = std::max(late_bytes, resident_bytes());
      if (!neighbour) return;
      const double third = 3 * part;
      if (const bool fight = third >= 1 && third < 2; fight != fights) {
        fights = fight;
        fight ? neighbour->start() : neighbour->stop();
      }
    });
    if (!outcome) return outcome.error();
    AdaptiveRow row{.scenario = &scenario,
                    .config = &config_,
                    .mode = way.mode,
                    .queue = queue,
                    .slots = way.slots,
                    .flood = 0,
                    .filter_bytes = way.filter_bytes,
                    .load = 0,
                    .mpps = 0};
    const ReportSummary& summary = outcome->summary;
    if (!summary.total.balanced() || !summary.windows_balanced) return Error{"the account does not balance"};
    row.offered = counts->counters()[Counter::nic_received] + counts->counters()[Counter::nic_missed];
    row.missed = counts->counters()[Counter::nic_missed];
    row.events_lost = summary.events_not_taken;
    if (early_bytes != 0 && late_bytes != 0) row.memory_growth = late_bytes / early_bytes - 1;
    row.kept_out = summary.total[Counter::kept_out_packets];
    row.lossy_windows = lossy_windows(*losses);
    row.longest_loss = longest_loss(*losses);
    const std::vector<WindowLoss> windows =
        losses_by_window(*losses, pace, static_cast<std::size_t>(sweep_.seconds * 1e9) / kWindowNs);
    const std::size_t warm = std::min<std::size_t>(warm_up_windows(sweep_), windows.size());
    row.missed_later_share = lost_share(std::span(windows).subspan(warm));
    if (const auto spec = spec_of(scenario.skew); spec && spec->last_zipf_exponent > 0)
      row.skew_at_loss =
          skew_at_loss(windows, warm, {spec->zipf_exponent, spec->last_zipf_exponent, sweep_.trace_packets});
    if (summary.adaptation) {
      row.reduced_share = summary.adaptation->reduced_s / std::max(1e-9, summary.adaptation->seconds);
      row.overhead_share = summary.adaptation->overhead_share;
      row.longest_us = summary.adaptation->longest_us;
      row.factor = summary.adaptation->factor;
    }
    row.left_out_share = static_cast<double>(clock->left_out_ns()) / (sweep_.seconds * 1e9);
    for (const TaskSummary& task : summary.tasks)
      if (task.name != "count") row.tasks.push_back(judge(task.name, *outcome, truth, judged, sweep_.threshold));
    return row;
  }

  const AdaptiveSweep& sweep_;
  const StateConfig& config_;
  const Experiment& experiment_;
  std::uint64_t seed_;
};

}  // namespace

Result<std::size_t> measure_adaptive(const AdaptiveSweep& sweep,
                                     const std::function<void(std::span<const AdaptiveRow>)>& done,
                                     const std::function<bool()>& stop) {
  std::size_t parts = 0;
  for (const StateConfig* config : sweep.configs) {
    Experiment experiment(sweep, *config);
    if (auto error = experiment.prepare()) return *error;
    for (int round = 0; round < sweep.rounds; ++round)
      for (const AdaptiveScenario* scenario : sweep.scenarios) {
        if (stop()) return parts;
        const auto rows = Round(sweep, *config, experiment, round).measure(*scenario, stop);
        if (!rows) return rows.error();
        if (rows->empty()) return parts;
        done(*rows);
        ++parts;
      }
  }
  return parts;
}

}  // namespace parshall::lab
