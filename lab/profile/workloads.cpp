// SPDX-License-Identifier: Apache-2.0
#include "lab/profile/workloads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/machine.hpp"
#include "engine/measure_stage.hpp"
#include "lab/profile/decode_alone.hpp"
#include "lab/profile/stage_run.hpp"
#include "pipeline/measure/tasks/fields.hpp"

namespace parshall::lab {
namespace {

constexpr std::size_t kBatch = 256, kLeastSample = std::size_t{1} << 18;
constexpr std::size_t kWarmUp = std::size_t{1} << 17;  ///< packets before each sample

/// Returns the packets before the first sample: enough for the table to hold each flow and for all memory to be mapped.
std::size_t first_packets(const WorkloadSweep& sweep, const SampleLength& sample) noexcept {
  return std::max(sample.packets, 2 * sweep.flows);
}

/// Returns the packets of a window of that length.
double packets_of(WindowLength length, double rate_pps) noexcept {
  const auto amount = static_cast<double>(length.amount);
  return std::max(1.0, length.unit == WindowLength::Unit::packets ? amount : amount * 1e-9 * rate_pps);
}

FlowStageOptions options_of(const Workload& workload, const WorkloadSweep& sweep, std::size_t part) {
  FlowStageOptions options{.flows = sweep.flows,
                           .snapshots = false,
                           .windows = workload.windows,
                           .findings = workload.findings,
                           .states = workload.states,
                           .seed = sweep.seed,
                           .can_wait = false};
  // Room for all rows and messages until they are read, since nothing reads them during a sample.
  double bytes = 1 << 20, rows = 0;
  for (const WindowPlan& window : workload.windows) {
    const double packets = packets_of(window.length, sweep.rate_pps);
    const double flows = std::min(static_cast<double>(sweep.flows), packets);
    const double windows = std::ceil(static_cast<double>(part) / packets) + 2;
    rows = std::max(rows, windows * flows);
    bytes += windows * static_cast<double>(sizeof(RowsMessage) + window.bins() * sizeof(LinkBin)) * 2;
  }
  options.window_ring_bytes = static_cast<std::size_t>(bytes);
  options.waiting_rows = static_cast<std::size_t>(rows);
  return options;
}

/// A monitor with a workload, and the messages it reported.
class Contestant {
 public:
  /// Throws std::bad_alloc.
  Contestant(const Workload& workload, const WorkloadSweep& sweep, const SampleLength& sample, const Frames& frames,
             std::size_t begin)
      : name_(workload.name),
        part_(sample.part),
        told_(workload.windows.size()),
        run_(sweep.table->make(options_of(workload, sweep, sample.part)),
             FlowIdentity(KeyFields::five_tuple, Identity::exact, sweep.seed), frames.source(begin), kBatch,
             {.facts = std::ranges::any_of(workload.findings, &FindingNeeds::tcp)}) {}

  void run(std::size_t packets) {
    for (std::size_t some; packets != 0; packets -= some) {
      if (since_read_ >= part_) read();
      some = std::min(packets, part_ - since_read_);
      run_.run(some);
      since_read_ += some;
    }
  }

  void read() {
    since_read_ = 0;
    run_.take_window_messages([this](std::span<const std::byte> bytes) {
      const auto message = read_as<WindowMessage>(bytes);
      if (message.kind != WindowMessage::Kind::end) return;
      const auto end = read_as<WindowEnd>(bytes.subspan(sizeof message));
      told_[message.clock] += end.totals.packets - end.totals.unlisted_packets;
    });
  }

  /// Returns what is wrong with the account at the end.
  std::optional<Error> check() {
    const StageCounts counts = run_.counts();
    read();
    run_.finish();
    read();
    const bool counted = counts[Counter::arrived] == run_.given() &&
                         counts[Counter::live_flow_packets] + counts[Counter::ended_record_packets] == run_.given();
    const bool told = std::ranges::all_of(told_, [&](std::uint64_t packets) { return packets == run_.given(); });
    if (counted && told) return std::nullopt;
    return Error{fmt::format("the monitor for {} received {} packets, counted {}, and reported {} in its windows",
                             name_, run_.given(), counts[Counter::arrived],
                             told_.empty() ? counts[Counter::arrived] : *std::ranges::min_element(told_))};
  }

 private:
  std::string name_;
  std::size_t part_, since_read_ = 0;
  std::vector<std::uint64_t> told_;  ///< packets of windows, by each window clock
  StageRun run_;
};

std::optional<Error> enough_memory(const WorkloadSweep& sweep, const SampleLength& sample) {
  std::size_t needed = sweep.table->memory_bytes(sweep.flows);
  for (const Workload& workload : sweep.workloads) {
    const std::size_t slots = sweep.table->slots(sweep.flows);
    const FlowStageOptions options = options_of(workload, sweep, sample.part);
    needed += sweep.table->memory_bytes(sweep.flows) + options.window_ring_bytes +
              MeasureStage::row_memory_bytes(options, slots);
  }
  if (needed <= available_bytes()) return std::nullopt;
  return Error{fmt::format(
      "{} monitors of {} flows each may need {} MB, but only {} MB are available: give traffic with fewer flows (-g)",
      sweep.workloads.size() + 1, sweep.flows, needed >> 20, available_bytes() >> 20)};
}

Workload work(std::string name, WindowLength window, FindingNeeds needs,
              const std::shared_ptr<const FlowMeasure>& measure = nullptr) {
  const auto measures = std::make_shared<MeasureSet>();
  if (measure) {
    measures->add(measure);
    needs.add(measure->needs());
  }
  return {.name = std::move(name), .tasks = {}, .windows = {WindowPlan(window, measures)}, .findings = {needs}};
}

}  // namespace

Result<std::vector<Workload>> workloads_of(const StateFile& file, const TaskOptions& options) {
  const auto sets = TaskSets::make(file.tasks, options);
  if (!sets) return sets.error();
  if (const auto whole = file.plan_for(*sets, options.seed); !whole) return whole.error();
  const std::size_t states = file.plan.names.size();
  const auto tasks = file.tasks_of_states();
  std::vector<Workload> workloads;
  for (std::size_t state = 0; state < states; ++state) {
    StatePlan plan;
    plan.names = file.plan.names;
    plan.first = static_cast<std::uint8_t>(state);
    Workload& made = workloads.emplace_back();
    made.name = file.plan.names[state];
    made.tasks = tasks[state];
    made.windows = sets->windows(states);
    made.findings = sets->findings(states);
    made.states = std::make_shared<const StatePlan>(std::move(plan));
  }
  return workloads;
}

std::vector<Workload> kinds_of_work(WindowLength window) {
  std::vector<Workload> kinds{work("window rows", window, {}), work("iat", window, {.iat = true}),
                              work("tcp", window, {.tcp = true}),
                              work("rtt_history", window, {.tcp = true, .rtt_history = true})};
  for (const FlowField& field : flow_fields()) {
    if (field.measure == nullptr) continue;
    auto measure = field.measure();
    if (std::ranges::find(kinds, measure->name(), &Workload::name) == kinds.end())
      kinds.push_back(work(measure->name(), window, {}, measure));
  }
  return kinds;
}

SampleLength sample_length(const std::vector<Workload>& workloads, double rate_pps) {
  constexpr double kMostWindows = 16;  // between two reads; a worker waits once 64 are unread
  double longest = 1, shortest = SampleLength::kMostPackets;
  for (const Workload& workload : workloads)
    for (const WindowPlan& window : workload.windows) {
      longest = std::max(longest, packets_of(window.length, rate_pps));
      shortest = std::min(shortest, packets_of(window.length, rate_pps));
    }
  const bool whole = longest <= SampleLength::kMostPackets;
  const double packets =
      whole ? longest * std::ceil(static_cast<double>(kLeastSample) / longest) : SampleLength::kMostPackets;
  return {.packets = static_cast<std::size_t>(packets),
          .part = static_cast<std::size_t>(std::max<double>(kBatch, std::min(packets, kMostWindows * shortest))),
          .whole = whole};
}

std::size_t packets_wanted(const WorkloadSweep& sweep) {
  const SampleLength sample = sample_length(sweep.workloads, sweep.rate_pps);
  const std::size_t monitors = sweep.workloads.size() + 2;  // each starts a round's packets after the previous one
  return first_packets(sweep, sample) +
         (static_cast<std::size_t>(sweep.rounds) + monitors) * (sample.packets + kWarmUp);
}

Result<std::optional<WorkloadCosts>> measure_workloads(const WorkloadSweep& sweep, const Frames& frames,
                                                       const std::function<bool()>& stop) {
  const SampleLength sample = sample_length(sweep.workloads, sweep.rate_pps);
  if (auto error = enough_memory(sweep, sample)) return *std::move(error);
  const std::size_t round = sample.packets + kWarmUp;
  std::vector<std::unique_ptr<Contestant>> contestants;
  std::vector<Variant> variants;
  std::vector<Cost> costs;
  const Workload counting{.name = "counting alone"};
  const auto beginning = [&](std::size_t monitor) { return monitor * round % frames.size(); };
  StageRun input(make_decode_alone({.flows = 1, .snapshots = false}),
                 FlowIdentity(KeyFields::five_tuple, Identity::exact, sweep.seed),
                 frames.source(beginning(sweep.workloads.size() + 1)), kBatch);
  try {
    const auto add = [&](const Workload& workload) {
      Contestant& contestant = *contestants.emplace_back(
          std::make_unique<Contestant>(workload, sweep, sample, frames, beginning(contestants.size())));
      contestant.run(first_packets(sweep, sample));
      contestant.read();
      variants.push_back({.name = workload.name,
                          .run = [&contestant](std::size_t count) { contestant.run(count); },
                          .observe = [&contestant] { contestant.read(); }});
    };
    add(counting);
    for (const Workload& workload : sweep.workloads) {
      if (stop()) return std::optional<WorkloadCosts>();
      add(workload);
    }
    variants.push_back({.name = "input", .run = [&input](std::size_t count) { input.run(count); }});
    costs = Harness(sample.packets, sweep.rounds, kWarmUp).measure(variants, stop);
  } catch (const std::bad_alloc&) {
    return Error{fmt::format("not enough memory for {} monitors of {} flows each: give traffic with fewer flows (-g)",
                             sweep.workloads.size() + 1, sweep.flows)};
  }
  if (costs.empty()) return std::optional<WorkloadCosts>();
  for (const auto& contestant : contestants)
    if (auto error = contestant->check()) return *std::move(error);
  WorkloadCosts all{.counting = costs.front(), .input = costs.back(), .workloads = {}};
  std::copy(costs.begin() + 1, costs.end() - 1, std::back_inserter(all.workloads));
  return std::optional(std::move(all));
}

}  // namespace parshall::lab
