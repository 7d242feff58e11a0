// SPDX-License-Identifier: Apache-2.0
#include "engine/summarizer.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/clock.hpp"
#include "engine/input.hpp"
#include "engine/session_options.hpp"

namespace parshall {
namespace {

/// Returns the class names in the order of StageCounts::classes.
std::vector<std::string> class_names(const StatisticSet& statistics) {
  auto names = std::ranges::find(statistics.columns(), FlowClass::kName, &Column::name)->values;
  names.emplace_back("too few packets");
  return names;
}

/// Returns the device's counters. Those that each queue reports are replaced by the queues' sum, so that lanes add up
/// to the total even if packets are lost while they are read.
Counters of_device(const Counters& device, std::span<const Counters> queues) {
  Counters all = device;
  for (const CounterLine& line : Counters::kTable) {
    if (!line.may_be_absent || queues.empty()) continue;
    if (!std::ranges::all_of(queues, [&](const Counters& queue) { return queue.known(line.id).has_value(); })) continue;
    all.set(line.id, 0);
    for (const Counters& queue : queues) all.add(line.id, queue[line.id]);
  }
  return all;
}

}  // namespace

Summarizer::Summarizer(const Input& input, const SessionOptions& options, const StatisticSet& statistics,
                       const Workers& workers, const Analyst* analyst)
    : input_(input),
      options_(options),
      workers_(workers),
      analyst_(analyst),
      busy_before_(workers.lanes().size()),
      stage_busy_before_(workers.stage_clocks().size()),
      began_(Clock::now()),
      began_cycles_(cpu_ticks()) {
  reads_names_ = statistics.names() != nullptr;
  if (statistics.classifies()) class_names_ = class_names(statistics);
}

/// Explains the time of all workers together since the start. The measure stage is timed for some batches; the rest is
/// counting.
void Summarizer::explain(ReportSummary& summary) const {
  const double ns_per_cycle = this->ns_per_cycle();
  const double packets = std::max(1.0, static_cast<double>(summary.total.counted()));
  double busy = 0, measured = 0;
  for (const auto& lane : workers_.lanes()) busy += static_cast<double>(lane->busy_cycles()) * ns_per_cycle / packets;
  static constexpr std::pair<MeasuringPart, std::string_view> kParts[] = {
      {MeasuringPart::statistics, "worker: statistics"},
      {MeasuringPart::findings, "worker: what flows and connections did before"},
      {MeasuringPart::windows, "worker: windows' counts and measures"}};
  std::vector<CostSummary> stages;
  for (const auto& [part, name] : kParts) {
    std::uint64_t stage_cycles = 0, stage_packets = 0;
    for (const auto& stage : workers_.stages()) {
      const StageCost* const cost = stage->cost(part);
      stage_cycles += cost == nullptr ? 0 : cost->cycles();
      stage_packets += cost == nullptr ? 0 : cost->packets();
    }
    if (stage_packets == 0) continue;
    const double ns = static_cast<double>(stage_cycles) * ns_per_cycle / static_cast<double>(stage_packets);
    stages.push_back({std::string(name), ns});
    measured += ns;
  }
  summary.costs.push_back({"worker: receive, decode, count, and the rest", std::max(0.0, busy - measured)});
  std::ranges::move(stages, std::back_inserter(summary.costs));
  if (analyst_ == nullptr) return;
  const auto of_analyst = [&](const std::string& what, const StageCost& cost) {
    if (cost.cycles() == 0) return;
    summary.costs.push_back({"analyst: " + what, static_cast<double>(cost.cycles()) * ns_per_cycle / packets});
  };
  for (const TaskSet& set : analyst_->tasks().sets()) {
    of_analyst("counts that tasks share", set.shared_cost());
    for (const TaskSet::Member& task : set.members()) of_analyst(task.name, *task.cost);
  }
}

AdaptationSummary Summarizer::adaptation() const {
  const ControlPlan& plan = *options_.stage.control;
  AdaptationSummary summary{.mode = std::string(plan.policy->name)};
  std::vector<GivenUp> given_up;
  for (std::size_t task = 0; task < plan.recalls->size(); ++task) given_up.push_back({(*plan.recalls)[task].name});
  std::uint64_t ns = 0, reduced_ns = 0, cycles = 0, longest_cycles = 0;
  constexpr auto kRelaxed = std::memory_order_relaxed;
  for (const auto& stage : workers_.stages()) {
    const ControlCounts& counts = *stage->control();
    ns += counts.ns.load(kRelaxed);
    reduced_ns += counts.reduced_ns.load(kRelaxed);
    cycles += counts.cycles.load(kRelaxed);
    longest_cycles = std::max(longest_cycles, counts.longest_cycles.load(kRelaxed));
    summary.windows += counts.windows.load(kRelaxed);
    summary.infeasible += counts.infeasible.load(kRelaxed);
    for (std::size_t group = 0; group < plan.groups.size(); ++group)
      for (const std::size_t task : plan.tasks_of_group[group]) {
        given_up[task].seconds += static_cast<double>(counts.given_up_ns[group].load(kRelaxed)) * 1e-9;
        given_up[task].is_now |= (counts.given_up.load(kRelaxed) >> group & 1) != 0;
      }
    if (const double factor = counts.factor.load(kRelaxed); std::abs(factor - 1) > std::abs(summary.factor - 1))
      summary.factor = factor;
  }
  std::ranges::copy_if(given_up, std::back_inserter(summary.given_up),
                       [](const GivenUp& task) { return task.seconds > 0; });
  summary.seconds = static_cast<double>(ns) * 1e-9;
  summary.reduced_s = static_cast<double>(reduced_ns) * 1e-9;
  if (ns != 0) summary.overhead_share = static_cast<double>(cycles) * ns_per_cycle() / static_cast<double>(ns);
  summary.longest_us = static_cast<double>(longest_cycles) * ns_per_cycle() * 1e-3;
  return summary;
}

ForwardingSummary Summarizer::forwarding() const {
  MarkingCounts counts;
  for (const auto& marker : workers_.markers())
    if (marker) counts.add(marker->counts());
  const std::uint64_t dropped = std::min(input_.dropped_in_sending(), counts.forwarded.sent);
  ForwardingSummary summary{.offered = counts.offered,
                            .sent = counts.forwarded.sent - dropped,
                            .too_long = counts.forwarded.too_long,
                            .refused = counts.forwarded.refused + dropped};
  for (std::size_t i = 0; i < counts.marked.size(); ++i)
    summary.marks.push_back({class_names_[i], options_.threads.marking[i], counts.marked[i]});
  return summary;
}

double Summarizer::ns_per_cycle() const {
  const auto elapsed = static_cast<double>(std::chrono::nanoseconds(Clock::now() - began_).count());
  return elapsed / static_cast<double>(std::max<std::uint64_t>(1, cpu_ticks() - began_cycles_));
}

/// Accounts for the packets, per worker and in total. During a run, a report covers the packets that have arrived in a
/// flow.
void Summarizer::account(ReportSummary& summary, std::span<const StageCounts> counts, const Counters& collected) {
  const bool is_pipeline = options_.threads.model == ThreadModel::pipeline;
  Accounting& total = summary.total;
  const bool has_queues = input_.device && input_.dealing == Dealing::by_device;
  std::vector<Counters> queues;
  for (std::size_t i = 0; i < workers_.lanes().size(); ++i) {
    Lane& lane = *workers_.lanes()[i];
    Accounting own(lane.counters());
    if (has_queues && !summary.final) set_device(own, lane.source().counters());
    if (has_queues) queues.push_back(own);
    if (!summary.final && !is_pipeline) own.set(Counter::counted, counts[i][Counter::arrived]);
    if (!summary.final) own.set(Counter::polled, own.outcomes());
    total += own;
    if (input_.dealing == Dealing::in_turns) {  // a worker reads for all, but counts its own
      own.set(Counter::counted, counts[i][Counter::arrived]);
      own.set(Counter::polled, own.outcomes());
    }
    const double busy_share = lane.busy_share_since(busy_before_[i]);
    if (is_pipeline) {
      const std::uint64_t handed_over = own.counted();
      own.set(Counter::counted, 0);
      own.set(Counter::polled, own.outcomes());
      summary.receivers.push_back({{own, busy_share}, handed_over});
    } else {
      own += counts[i];
      summary.workers.push_back({own, busy_share});
    }
  }
  if (is_pipeline) tell_workers_behind(counts, summary);
  for (const Counters& worker : counts) total += worker;
  total += collected;
  if (!summary.final && is_pipeline) {
    total.set(Counter::polled, total[Counter::polled] - total.counted() + total[Counter::arrived]);
    total.set(Counter::counted, total[Counter::arrived]);
  }
  if (input_.device) set_device(total, of_device(input_.device(), queues));  // otherwise sources report what they know
  total.set(Counter::first_seen_ns, std::min(total[Counter::first_seen_ns], total[Counter::last_seen_ns]));  // or 0
}

/// Reports the workers behind a receive thread; each counts what that thread hands over.
void Summarizer::tell_workers_behind(std::span<const StageCounts> counts, ReportSummary& summary) {
  const std::span<const BusyClock> clocks = workers_.stage_clocks();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    Accounting own(counts[i]);
    own.set(Counter::counted, own[Counter::arrived]);
    own.set(Counter::polled, own.outcomes());
    summary.workers.push_back({own, BusyClock::share_since(stage_busy_before_[i], clocks[i].read())});
  }
}

void Summarizer::tell_states(ReportSummary& summary) const {
  for (const std::string& name : options_.stage.states->names) summary.states.push_back({name, 0});
  for (const auto& stage : workers_.stages()) {
    const std::vector<StatePackets> packets = summary.final ? stage->state_packets() : stage->snapshot_ready()->states;
    for (std::size_t i = 0; i < packets.size(); ++i) {
      summary.states[i].packets += packets[i].all;
      summary.states[i].kept += packets[i].kept;
    }
  }
}

void Summarizer::tell_tasks(ReportSummary& summary) const {
  const std::span<const TaskSet> sets = analyst_->tasks().sets();
  for (std::size_t set = 0; set < sets.size(); ++set)
    for (std::size_t i = 0; i < sets[set].members().size(); ++i) {
      const TaskSet::Member& task = sets[set].members()[i];
      summary.tasks.push_back({task.name, task.events, task.dropped, task.keys_left_out, analyst_->recall(set, i)});
    }
  summary.windows = analyst_->windows();
  summary.windows_balanced = analyst_->balanced();
  for (const auto& stage : workers_.stages()) summary.segments_not_kept += stage->dropped_segments();
}

ReportSummary Summarizer::summarize(std::span<const StageCounts> counts, const Counters& collected, bool final) {
  ReportSummary summary;
  summary.source = input_.description;
  summary.number = ++reports_;
  summary.final = final;
  summary.elapsed_s = std::chrono::duration<double>(Clock::now() - began_).count();
  summary.capacity = options_.table == nullptr ? 0 : options_.stage.flows * options_.workers;
  summary.identity = options_.identity;
  summary.flow_keys = {.key = options_.key,
                       .header = options_.header,
                       .is_biflow = options_.stage.biflow,
                       .seed_check = FlowIds(options_.seed).check(),
                       .filter = options_.filter ? options_.filter->expression() : std::string()};
  account(summary, counts, collected);
  if (input_.interfaces) summary.interfaces = input_.interfaces();
  if (summary.total[Counter::nic_missed] != 0) summary.remedy = input_.remedy;
  if (options_.stage.flood_filter_bytes != 0)
    summary.flood_filter = {.bytes = options_.stage.flood_filter_bytes,
                            .seconds = static_cast<double>(summary.total[Counter::flood_filter_ns]) * 1e-9,
                            .on_s = static_cast<double>(summary.total[Counter::flood_filter_on_ns]) * 1e-9};
  if (options_.table != nullptr)
    summary.expected_merges =
        expected_merges(*options_.table, options_.identity, options_.hash, options_.workers, summary.total);
  if (final && options_.stage.observe_merges) {
    summary.observed_merges = 0;
    for (const auto& stage : workers_.stages()) *summary.observed_merges += stage->observed_merges();
  }
  if (reads_names_) {
    summary.names_not_read = 0;
    for (const auto& stage : workers_.stages()) *summary.names_not_read += stage->names_not_read();
  }
  if (options_.labeller) {
    if (final) options_.labeller->settle();
    summary.labels = options_.labeller->counts();
    if (const LabelLearner* const learner = options_.labeller->learner()) summary.learning = learner->state();
  }
  if (options_.stage.explain) explain(summary);
  if (options_.stage.states) tell_states(summary);
  StageCounts all;
  for (const StageCounts& worker : counts) all += worker;
  for (std::size_t i = 0; i < all.classes.size(); ++i) summary.classes.push_back({class_names_[i], all.classes[i]});
  if (final && options_.classifiers != 0) {
    summary.classifiers = {.threads = options_.classifiers, .jobs = {}};
    for (const auto& stage : workers_.stages()) summary.classifiers->jobs.add(stage->class_jobs()->counts());
  }
  if (input_.dropped_in_sending) summary.forwarding = forwarding();
  if (options_.stage.control) summary.adaptation = adaptation();
  if (final && analyst_ != nullptr) tell_tasks(summary);
  const std::uint64_t last_ns = summary.last_ns();
  interval_s_ = last_report_ns_ == 0 ? 0 : static_cast<double>(last_ns - last_report_ns_) * 1e-9;
  last_report_ns_ = last_ns;
  return summary;
}

}  // namespace parshall
