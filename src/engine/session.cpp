// SPDX-License-Identifier: Apache-2.0
#include "engine/session.hpp"

#include <x86intrin.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>

#include "engine/packet_counter.hpp"
#include "pipeline/measure/flow_tracker.hpp"

namespace parshall {
namespace {

constexpr std::chrono::milliseconds kCollectEvery{1};
/// Of records that wait: those being reported and those since, each with as much again where no file can be written.
constexpr std::uint64_t kSpoolMemoryBytes = 4 * SpoolLimits().memory_bytes;
constexpr std::chrono::microseconds kSnapshotPoll{200}, kAnalyseEvery{500},
    kDecideEvery{20};  // workers may wait for it

bool finds_anything(const SessionOptions& options) noexcept {
  return options.monitor.states || std::ranges::any_of(options.monitor.findings, &FindingNeeds::any);
}
bool follows_tcp(const SessionOptions& options) noexcept {
  return std::ranges::any_of(options.monitor.findings, &FindingNeeds::tcp);
}

/// A wire may lead from a file to an interface.
bool all_wait(const Input& input) noexcept {
  return !input.sources.empty() &&
         std::ranges::all_of(input.sources, [](const auto& source) { return source->lossless(); });
}

/// In the order of MonitorCounts::classes.
std::vector<std::string> class_names(const StatisticSet& statistics) {
  auto names = std::ranges::find(statistics.columns(), FlowClass::kName, &Column::name)->values;
  names.emplace_back("too few packets");
  return names;
}

}  // namespace

std::uint64_t Session::memory_bytes(const SessionOptions& options, const Schema& schema) {
  if (options.table == nullptr) return 0;
  const std::size_t slots = options.table->slots(options.monitor.flows);
  std::uint64_t bytes =
      options.table->memory_bytes(options.monitor.flows) + std::bit_ceil(options.monitor.ended_ring_bytes);
  if (options.snapshots) bytes += slots * (sizeof(RecordHeader) + schema.statistics()->row_bytes());
  if (!options.monitor.windows.empty()) bytes += std::bit_ceil(options.monitor.window_ring_bytes);
  for (const WindowPlan& plan : options.monitor.windows) bytes += WindowRows::memory_bytes(plan, slots);
  if (finds_anything(options)) bytes += FlowTracker::memory_bytes(options.monitor.findings, slots);
  if (schema.statistics()->row_bytes() != 0) bytes += FlowRows::memory_bytes(*schema.statistics(), slots);
  if (options.threads.model != ThreadModel::run_to_completion)
    bytes += std::bit_ceil(options.threads.ring_packets) *
             (sizeof(PacketFacts) + sizeof(LinkPlace) + (follows_tcp(options) ? sizeof(TcpFacts) : 0));
  if (options.monitor.flood_filter_bytes != 0) bytes += FloodFilter::memory_bytes();
  const std::uint64_t class_rings =
      options.classifiers == 0 ? 0 : std::max(options.classifiers, options.workers) * ClassJobRing::kMemoryBytes;
  const std::uint64_t shared = options.monitor.states ? options.monitor.states->memory_bytes() : 0;
  const FlowClass* const classes = schema.statistics()->flow_class();
  const std::uint64_t model = classes == nullptr ? 0 : classes->classifier()->memory_bytes();
  const std::uint64_t flows = options.workers * slots;
  const std::uint64_t bases = schema.needs_interval() && options.snapshots ? IntervalBases::memory_bytes(flows) : 0;
  const std::uint64_t merger = options.workers > 1 && options.threads.model != ThreadModel::pipeline
                                   ? FlowMerger::memory_bytes(flows)
                                   : 0;  // and perhaps it is not needed
  return options.workers * bytes + class_rings + model + shared + bases + merger + kSpoolMemoryBytes;
}

Session::Monitors Session::make_monitors(const SessionOptions& options, const Schema& schema, bool can_wait) {
  FlowStageOptions monitor = options.monitor;
  monitor.statistics = {schema.statistics(), 0};
  monitor.snapshots = options.snapshots;
  monitor.populate = !can_wait;
  monitor.can_wait = can_wait;
  if (can_wait) monitor.control = nullptr;
  monitor.seed = options.seed;
  if (!options.threads.marking.empty()) monitor.classified_batch = options.batch;
  const FlowIdentity identity(options.key, options.identity, options.seed, options.hash);
  if (can_wait && !options.snapshots && !monitor.observe_merges && !identity.from_nic() &&
      schema.statistics()->row_bytes() == 0 && monitor.windows.empty())
    monitor.grow_by = identity;
  Monitors monitors;
  std::optional<CommitLater> later;
  if (!options.commits_first) later.emplace();
  for (std::size_t i = 0; i < options.workers; ++i) {
    monitor.class_rings = class_rings_of(i, options.workers, options.classifiers);
    monitors.workers.push_back(options.table == nullptr ? std::make_unique<PacketCounter>()
                                                        : options.table->make(monitor));
  }
  if (later) monitors.memory = later->take();
  return monitors;
}

Session::Session(Input input, SessionOptions options, Schema schema, Monitors monitors, TaskSets tasks)
    : input_(std::move(input)),
      options_(std::move(options)),
      memory_bytes_(memory_bytes(options_, schema) + tasks.memory_bytes() + input_.memory_bytes +
                    (options_.outputs == nullptr ? 0 : options_.outputs->memory_bytes())),
      spool_({.all_bytes = options_.ended_bytes, .without_file_bytes = SpoolLimits().memory_bytes}),
      events_(/*can_wait=*/all_wait(input_)) {
  options_.threads.ring_packets =
      std::max(options_.threads.ring_packets, options_.batch);  // one thread fills it, then empties it
  const bool workers_wait = all_wait(input_);
  if (monitors.workers.empty()) monitors = make_monitors(options_, schema, workers_wait);
  memory_ = std::move(monitors.memory);
  if (workers_wait) options_.monitor.control = nullptr;
  if (schema.statistics()->classifies()) class_names_ = class_names(*schema.statistics());
  if (options_.classifiers != 0)
    classifiers_ = class_helpers_maker()(schema.statistics()->flow_class()->classifier(), options_.classifiers,
                                         options_.threads.busy_poll ? Waiting::busily : Waiting::soon_asleep);
  chosen_ = std::make_shared<const Chosen>(Chosen{std::move(schema), 0});
  const FlowIdentity identity(options_.key, options_.identity, options_.seed, options_.hash);
  const bool shared = input_.every_source_sees_all && options_.threads.model != ThreadModel::pipeline;
  const TcpWishes tcp{.facts = follows_tcp(options_), .together = follows_tcp(options_) && options_.workers > 1};
  std::vector<std::unique_ptr<Lane>> lanes;
  for (std::size_t i = 0; i < input_.sources.size(); ++i) {
    const Share share =
        shared ? Share{static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(input_.sources.size())} : Share{};
    lanes.push_back(std::make_unique<Lane>(std::move(input_.sources[i]),
                                           FrontEnd(options_.header, identity, share, options_.filter, tcp),
                                           options_.batch, options_.limits));
  }
  busy_before_.resize(lanes.size());
  workers_ = std::make_unique<Workers>(std::move(lanes), std::move(monitors.workers), options_.threads,
                                       input_.every_source_sees_all);
  loss_watch_ = std::make_unique<LossWatch>(*workers_, input_.device, options_.identity != Identity::exact);
  if (const auto& losses = chosen_->schema.losses()) loss_watch_->begin(losses);
  if (chosen_->schema.needs_interval() && options_.snapshots) bases_.emplace(most_live(), options_.seed);
  if (may_overlap()) merger_.emplace(most_live(), options_.seed);
  if (classifiers_) {
    std::vector<const ClassJobs*> jobs;
    for (const auto& monitor : workers_->monitors()) jobs.push_back(monitor->class_jobs());
    classifiers_->serve(jobs);
  }
  if (tasks.sets().empty()) return;
  std::vector<RecordRing*> rings;
  for (const auto& monitor : workers_->monitors()) rings.push_back(&monitor->window_messages());
  std::span<const StateOutcome> outcomes;
  if (options_.monitor.states) outcomes = options_.monitor.states->outcomes;
  analyst_.emplace(std::move(tasks), std::move(rings), events_, outcomes,
                   options_.monitor.control ? options_.monitor.control->recalls : nullptr);
}

Session::~Session() {
  stop();
  events_.stop_waiting();
  workers_->join();
  analysing_.store(false, std::memory_order_release);
  if (analysis_.joinable()) analysis_.join();
  collecting_.store(false, std::memory_order_release);
  if (collector_.joinable()) collector_.join();
  classifiers_.reset();
  loss_watch_.reset();
  workers_.reset();  // the sources before what they live on
}

std::optional<Error> Session::start() {
  began_ = Clock::now();
  began_cycles_ = __rdtsc();
  commit_.start(std::move(memory_));
  collector_ = std::thread([this] {
    while (collecting_.load(std::memory_order_acquire)) {
      const bool asked = collect_now_.load(std::memory_order_acquire);
      collect();
      if (asked)
        collect_now_.store(false, std::memory_order_release);
      else
        std::this_thread::sleep_for(kCollectEvery);
    }
    collect();
    collected_all_.store(true, std::memory_order_release);
  });
  if (analyst_)
    analysis_ = std::thread([this] {
      while (analysing_.load(std::memory_order_acquire))
        if (!analyst_->poll()) std::this_thread::sleep_for(options_.monitor.states ? kDecideEvery : kAnalyseEvery);
      while (analyst_->poll()) {
      }
      analysed_.store(true, std::memory_order_release);
    });
  if (classifiers_) {
    std::vector<unsigned> cores = options_.threads.cores;
    if (!cores.empty())
      std::ranges::rotate(cores, cores.begin() + static_cast<std::ptrdiff_t>(workers_->threads() % cores.size()));
    if (auto error = classifiers_->start(cores)) return error;
  }
  return workers_->start();
}

std::vector<Event> Session::take_events() {
  keep_events();
  return std::exchange(last_events_, {});
}

std::vector<WindowRecall> Session::take_recalls() {
  const RecallBoard* const board = recalls();
  return board != nullptr ? board->windows->take() : std::vector<WindowRecall>();
}

std::uint64_t Session::recalls_not_taken() const {
  const RecallBoard* const board = recalls();
  return board != nullptr ? board->windows->dropped() : 0;
}

/// Null where nobody asked for each window's.
const RecallBoard* Session::recalls() const noexcept {
  const RecallBoard* const board = options_.monitor.control ? options_.monitor.control->recalls.get() : nullptr;
  return board != nullptr && board->windows ? board : nullptr;
}

/// Tasks may wait for room for their events, and workers for the tasks: so who waits for workers takes them.
void Session::keep_events() {
  if (options_.outputs == nullptr) std::ranges::move(events_.take(), std::back_inserter(last_events_));
}

bool Session::ended_within(std::chrono::milliseconds most) {
  const auto until = Clock::now() + most;
  const auto is_done = [&](auto done) {
    while (!done()) {
      if (Clock::now() >= until) return false;
      keep_events();
      std::this_thread::sleep_for(kAnalyseEvery);
    }
    return true;
  };
  if (!is_done([this] { return workers_->finished(); })) return false;
  workers_->join();
  analysing_.store(false, std::memory_order_release);
  if (analysis_.joinable()) {
    if (!is_done([this] { return analysed_.load(std::memory_order_acquire); })) return false;
    analysis_.join();
  }
  collecting_.store(false, std::memory_order_release);
  if (collector_.joinable()) {
    if (!is_done([this] { return collected_all_.load(std::memory_order_acquire); })) return false;
    collector_.join();
  }
  return true;
}

void Session::collect() {
  loss_watch_->look();
  collect_ended();
  if (options_.outputs != nullptr) collect_findings();
}

void Session::collect_ended() {
  using Put = ExportQueue::Put;
  const bool leave = options_.outputs != nullptr && options_.outputs->take_records();
  const auto drop = [this](std::uint64_t records, std::uint64_t packets) {
    collected_.add(Counter::dropped_records, records);
    collected_.add(Counter::dropped_record_packets, packets);
    collected_now_.publish(collected_);
  };
  for (const auto& monitor : workers_->monitors())
    monitor->ended().drain([&](std::span<const std::byte> record) {
      const Put put = leave ? options_.outputs->put(record) : Put::given_back;
      if (put == Put::taken || (put == Put::given_back && (!options_.keeps_ended || spool_.append(record)))) return;
      drop(1, RecordView(record).header.record.packets);
    });
  if (const std::uint64_t records = refused_records_.exchange(0)) drop(records, refused_packets_.exchange(0));
}

void Session::collect_findings() {
  for (const Event& event : events_.take()) options_.outputs->put(event);
  if (const RecallBoard* const board = recalls())
    for (const WindowRecall& told : board->windows->take()) options_.outputs->put(told);
}

void Session::keep_ended(std::span<const std::byte> record) {
  if (spool_.append(record)) return;
  refused_packets_.fetch_add(RecordView(record).header.record.packets);
  refused_records_.fetch_add(1);
}

std::uint64_t Session::packets_polled() const noexcept {
  std::uint64_t packets = 0;
  for (const auto& lane : workers_->lanes()) packets += lane->polled();
  const bool repeated = input_.every_source_sees_all && !workers_->lanes().empty();
  return repeated ? packets / workers_->lanes().size() : packets;
}

Counters Session::counters() const {
  Counters all = collected_now_.read();
  for (const auto& lane : workers_->lanes()) all += lane->counters();
  for (const auto& monitor : workers_->monitors()) all += monitor->published();
  set_device(all, input_.device ? input_.device() : Counters());  // lanes know their queues' part, as it was
  return all;
}

std::optional<Error> Session::damage() const {
  for (const auto& lane : workers_->lanes())
    if (auto damage = lane->source().damage()) return damage;
  if (spool_.unreadable())
    return Error{
        "records of ended flows could not be read back from the temporary file: this report lacks them; set "
        "TMPDIR to a sound disk"};
  return std::nullopt;
}

bool Session::may_overlap() const noexcept {
  return workers_->monitors().size() > 1 && !input_.every_source_sees_all &&
         options_.threads.model != ThreadModel::pipeline;
}

std::uint64_t Session::most_live() const noexcept {
  return options_.table == nullptr ? 0 : options_.workers * options_.table->slots(options_.monitor.flows);
}

void Session::change_columns(Schema schema) {
  if (schema.needs_interval() && !bases_) bases_.emplace(most_live(), options_.seed);
  const std::uint64_t generation = chosen_->generation + 1;
  for (const auto& monitor : workers_->monitors()) monitor->request_statistics({schema.statistics(), generation});
  chosen_ = std::make_shared<const Chosen>(Chosen{std::move(schema), generation});
  loss_watch_->follow(chosen_->schema.losses());
}

bool Session::snapshot_ready() const noexcept {
  return std::ranges::all_of(workers_->monitors(),
                             [](const auto& monitor) { return monitor->snapshot_ready() != nullptr; });
}

std::optional<Report> Session::snapshot() {
  begin_snapshot();
  while (!snapshot_ready()) {
    if (finished() && !snapshot_ready()) return std::nullopt;
    keep_events();
    std::this_thread::sleep_for(kSnapshotPoll);
  }
  return poll_snapshot(SnapshotFlows::live_and_ended);
}

void Session::begin_snapshot() {
  for (const auto& monitor : workers_->monitors()) monitor->request_snapshot(reports_ + 1);
}

std::optional<Report> Session::poll_snapshot(SnapshotFlows flows) {
  if (!snapshot_ready()) return std::nullopt;
  const std::uint64_t number = ++reports_;
  if (flows == SnapshotFlows::live_and_ended) {  // all that ended before it is in the spool, or dropped
    collect_now_.store(true, std::memory_order_release);
    while (collect_now_.load(std::memory_order_acquire)) std::this_thread::sleep_for(kSnapshotPoll);
  }
  std::vector<MonitorCounts> counts;
  for (const auto& monitor : workers_->monitors()) counts.push_back(monitor->snapshot_ready()->counts);
  Report report{.summary = summarize(counts, /*final=*/false), .columns = {}, .flows = nullptr};
  report.columns = chosen_->schema.columns();
  report.flows = [this, number, flows](const std::function<void(const ReportFlow&)>& visit) {
    visit_snapshots(number, flows, visit);
  };
  return report;
}

Report Session::final_report() {
  while (!ended_within(std::chrono::hours(1))) {
  }
  if (const auto& losses = chosen_->schema.losses(); losses && damage()) losses->note_damage();
  ++reports_;
  std::vector<MonitorCounts> counts;
  for (const auto& monitor : workers_->monitors()) counts.push_back(monitor->counts());
  Report report{.summary = summarize(counts, /*final=*/true), .columns = {}, .flows = nullptr};
  report.columns = chosen_->schema.columns();
  report.flows = [this](const std::function<void(const ReportFlow&)>& visit) { visit_final(visit); };
  report.live = [this](const std::function<void(const ReportFlow&)>& visit) { visit_live(visit); };
  return report;
}

/// Of all workers together, since the start. The measure stage is timed now and then; counting is the rest.
void Session::explain(ReportSummary& summary) const {
  const double ns_per_cycle = this->ns_per_cycle();
  const double packets = std::max(1.0, static_cast<double>(summary.total.counted()));
  double busy = 0, measured = 0;
  for (const auto& lane : workers_->lanes()) busy += static_cast<double>(lane->busy_cycles()) * ns_per_cycle / packets;
  static constexpr std::pair<MeasureStage, std::string_view> kStages[] = {
      {MeasureStage::statistics, "worker: statistics"},
      {MeasureStage::findings, "worker: what flows and connections did before"},
      {MeasureStage::windows, "worker: windows' counts and measures"}};
  std::vector<CostSummary> stages;
  for (const auto& [stage, name] : kStages) {
    std::uint64_t stage_cycles = 0, stage_packets = 0;
    for (const auto& monitor : workers_->monitors()) {
      const StageCost* const cost = monitor->cost(stage);
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
  if (!analyst_) return;
  const auto of_analyst = [&](const std::string& what, const StageCost& cost) {
    if (cost.cycles() == 0) return;
    summary.costs.push_back({"analyst: " + what, static_cast<double>(cost.cycles()) * ns_per_cycle / packets});
  };
  for (const TaskSet& set : analyst_->tasks().sets()) {
    of_analyst("counts that tasks share", set.shared_cost());
    for (const TaskSet::Member& task : set.members()) of_analyst(task.name, *task.cost);
  }
}

AdaptationSummary Session::adaptation() const {
  AdaptationSummary summary{.mode = std::string(name_of(options_.monitor.control->controller.mode))};
  std::uint64_t ns = 0, shifted_ns = 0, cycles = 0, longest_cycles = 0;
  constexpr auto kRelaxed = std::memory_order_relaxed;
  for (const auto& monitor : workers_->monitors()) {
    const ControlCounts& counts = *monitor->control();
    ns += counts.ns.load(kRelaxed);
    shifted_ns += counts.shifted_ns.load(kRelaxed);
    cycles += counts.cycles.load(kRelaxed);
    longest_cycles = std::max(longest_cycles, counts.longest_cycles.load(kRelaxed));
    summary.shed_s += static_cast<double>(counts.shed_ns.load(kRelaxed)) * 1e-9;
    summary.one_in = std::max(summary.one_in, counts.most_one_in.load(kRelaxed));
    summary.windows += counts.windows.load(kRelaxed);
    summary.infeasible += counts.infeasible.load(kRelaxed);
    if (const double residual = counts.residual.load(kRelaxed); std::abs(residual) > std::abs(summary.residual))
      summary.residual = residual;
  }
  summary.seconds = static_cast<double>(ns) * 1e-9;
  summary.shifted_s = static_cast<double>(shifted_ns) * 1e-9;
  if (ns != 0) summary.overhead_share = static_cast<double>(cycles) * ns_per_cycle() / static_cast<double>(ns);
  summary.longest_us = static_cast<double>(longest_cycles) * ns_per_cycle() * 1e-3;
  return summary;
}

ForwardingSummary Session::forwarding() const {
  MarkingCounts counts;
  for (const auto& marker : workers_->markers())
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

double Session::ns_per_cycle() const {
  const auto elapsed = static_cast<double>(std::chrono::nanoseconds(Clock::now() - began_).count());
  return elapsed / static_cast<double>(std::max<std::uint64_t>(1, __rdtsc() - began_cycles_));
}

/// Where the packets are, by worker and in all. While they are on their way, a report is about those that have arrived
/// in a flow.
void Session::account(ReportSummary& summary, std::span<const MonitorCounts> counts) {
  const bool is_pipeline = options_.threads.model == ThreadModel::pipeline;
  Accounting& total = summary.total;
  for (std::size_t i = 0; i < workers_->lanes().size(); ++i) {
    const Lane& lane = *workers_->lanes()[i];
    Accounting own(lane.counters());
    if (!summary.final && !is_pipeline) own.set(Counter::counted, counts[i][Counter::arrived]);
    if (!summary.final) own.set(Counter::polled, own.outcomes());
    total += own;
    if (!is_pipeline) own += counts[i];
    if (is_pipeline)  // its flows are with all monitors
      for (const Counter counter : {Counter::arrived, Counter::live_flow_packets}) own.set(counter, own.counted());
    summary.workers.push_back({.accounting = own, .busy_share = lane.busy_share_since(busy_before_[i])});
  }
  for (const Counters& worker : counts) total += worker;
  total += collected_now_.read();
  if (!summary.final && is_pipeline) {
    total.set(Counter::polled, total[Counter::polled] - total.counted() + total[Counter::arrived]);
    total.set(Counter::counted, total[Counter::arrived]);
  }
  set_device(total, input_.device ? input_.device() : Counters());
  total.set(Counter::first_seen_ns, std::min(total[Counter::first_seen_ns], total[Counter::last_seen_ns]));  // or 0
}

ReportSummary Session::summarize(std::span<const MonitorCounts> counts, bool final) {
  ReportSummary summary;
  summary.source = input_.description;
  summary.number = reports_;
  summary.final = final;
  summary.elapsed_s = std::chrono::duration<double>(Clock::now() - began_).count();
  summary.capacity = options_.table == nullptr ? 0 : options_.monitor.flows * options_.workers;
  summary.memory_bytes = memory_bytes_;
  summary.identity = options_.identity;
  account(summary, counts);
  if (options_.monitor.flood_filter_bytes != 0)
    summary.flood_filter = {.bytes = options_.monitor.flood_filter_bytes,
                            .seconds = static_cast<double>(summary.total[Counter::flood_filter_ns]) * 1e-9,
                            .on_s = static_cast<double>(summary.total[Counter::flood_filter_on_ns]) * 1e-9};
  if (options_.table != nullptr)
    summary.expected_merges =
        expected_merges(*options_.table, options_.identity, options_.hash, options_.workers, summary.total);
  if (final && options_.monitor.observe_merges) {
    summary.observed_merges = 0;
    for (const auto& monitor : workers_->monitors()) *summary.observed_merges += monitor->observed_merges();
  }
  if (options_.monitor.explain) explain(summary);
  if (options_.monitor.states) {
    for (const std::string& name : options_.monitor.states->names) summary.states.push_back({name, 0});
    for (const auto& monitor : workers_->monitors()) {
      const std::vector<StatePackets> packets = final ? monitor->state_packets() : monitor->snapshot_ready()->states;
      for (std::size_t i = 0; i < packets.size(); ++i) {
        summary.states[i].packets += packets[i].all;
        summary.states[i].kept += packets[i].kept;
      }
    }
  }
  MonitorCounts all;
  for (const MonitorCounts& worker : counts) all += worker;
  for (std::size_t i = 0; i < all.classes.size(); ++i) summary.classes.push_back({class_names_[i], all.classes[i]});
  if (final && classifiers_) {
    summary.classifiers = {.threads = options_.classifiers, .jobs = {}};
    for (const auto& monitor : workers_->monitors()) summary.classifiers->jobs.add(monitor->class_jobs()->counts());
  }
  if (input_.dropped_in_sending) summary.forwarding = forwarding();
  if (options_.monitor.control) summary.adaptation = adaptation();
  if (final && analyst_) {
    const std::span<const TaskSet> sets = analyst_->tasks().sets();
    for (std::size_t set = 0; set < sets.size(); ++set)
      for (std::size_t i = 0; i < sets[set].members().size(); ++i) {
        const TaskSet::Member& task = sets[set].members()[i];
        summary.tasks.push_back({task.name, task.events, task.dropped, analyst_->recall(set, i)});
      }
    summary.windows = analyst_->windows();
    summary.windows_balanced = analyst_->balanced();
    summary.events_not_taken = events_.dropped();
    for (const auto& monitor : workers_->monitors()) summary.segments_not_kept += monitor->dropped_segments();
  }
  if (final)
    if (const auto broken = damage()) summary.damage = broken->message;
  const std::uint64_t last_ns = summary.last_ns();
  interval_s_ = last_report_ns_ == 0 ? 0 : static_cast<double>(last_ns - last_report_ns_) * 1e-9;
  last_report_ns_ = last_ns;
  return summary;
}

void Session::visit_flow(const FlowRecord& record, std::span<const std::byte> row, std::uint64_t generation,
                         const Chosen& chosen, const std::function<void(const ReportFlow&)>& visit) {
  values_.resize(chosen.schema.columns().size());
  IntervalBase base;
  if (chosen.schema.needs_interval() && bases_) {
    base = bases_->find(record);
    base.interval_s = interval_s_;
    if (record.end_reason == EndReason::none) bases_->put(record);
  }
  if (generation != chosen.generation) row = {};
  chosen.schema.read(record, row, base, values_);
  visit({record, values_});
}

void Session::visit_ended(std::uint64_t number, const Chosen& chosen,
                          const std::function<void(const ReportFlow&)>& visit) {
  unconfirmed_.emplace_back(number, spool_.take([&](std::span<const std::byte> bytes) {
    const RecordView view(bytes);
    if (view.header.snapshot > number) return false;
    visit_flow(view.header.record, view.row, view.header.generation, chosen, visit);
    return true;
  }));
}

void Session::visit_snapshots(std::uint64_t number, SnapshotFlows flows,
                              const std::function<void(const ReportFlow&)>& visit) {
  const auto chosen = chosen_;
  if (flows == SnapshotFlows::live_and_ended) visit_ended(number, *chosen, visit);
  std::uint64_t live = 0;
  for (const auto& monitor : workers_->monitors()) live += monitor->snapshot_ready()->counts[Counter::live_flows];
  if (bases_) bases_->begin_report(live);
  const auto read = [&](const Snapshot& snapshot, std::uint64_t i) {
    return RecordView({snapshot.flows.data() + i * snapshot.stride, snapshot.stride});
  };
  if (may_overlap()) {
    merger_->merge(
        *chosen->schema.statistics(), live,
        [&](std::uint64_t place, auto&& use) {
          for (const auto& monitor : workers_->monitors()) {
            const Snapshot& snapshot = *monitor->snapshot_ready();
            if (const std::uint64_t here = snapshot.counts[Counter::live_flows]; place >= here) {
              place -= here;
              continue;
            }
            const RecordView view = read(snapshot, place);
            const bool has_row = view.header.generation == chosen->generation;
            return use(view.header.record, has_row ? view.row : std::span<const std::byte>());
          }
        },
        [&](const FlowRecord& record, std::span<const std::byte> row) {
          visit_flow(record, row, chosen->generation, *chosen, visit);
        });
  } else {
    for (const auto& monitor : workers_->monitors()) {
      const Snapshot& snapshot = *monitor->snapshot_ready();
      for (std::uint64_t i = 0; i < snapshot.counts[Counter::live_flows]; ++i) {
        const RecordView view = read(snapshot, i);
        visit_flow(view.header.record, view.row, view.header.generation, *chosen, visit);
      }
    }
  }
  if (bases_) bases_->end_report();
}

void Session::visit_final(const std::function<void(const ReportFlow&)>& visit) {
  const auto chosen = chosen_;
  const auto visit_record = [&](const RecordView& view) {
    visit_flow(view.header.record, view.row, view.header.generation, *chosen, visit);
  };
  for (const auto& [number, taken] : unconfirmed_)
    taken.visit([&, number = number](std::span<const std::byte> bytes) {
      if (const RecordView view(bytes); view.header.snapshot <= number) visit_record(view);
    });
  spool_.visit([&](std::span<const std::byte> bytes) { visit_record(RecordView(bytes)); });
  visit_live(visit);
}

void Session::visit_live(const std::function<void(const ReportFlow&)>& visit) {
  const auto chosen = chosen_;
  if (!may_overlap()) {
    for (const auto& monitor : workers_->monitors()) {
      const std::uint64_t generation = monitor->statistics().generation;
      monitor->visit([&](FlowRecord record, std::span<const std::byte> row) {
        record.end_reason = EndReason::forced_end;  // the table goes
        visit_flow(record, row, generation, *chosen, visit);
      });
    }
    return;
  }
  std::uint64_t places = 0;
  std::vector<std::uint64_t> generations;
  for (const auto& monitor : workers_->monitors()) {
    places += monitor->slots();
    generations.push_back(monitor->statistics().generation);
  }
  const auto read = [&](std::uint64_t place, auto&& use) {
    for (std::size_t i = 0; i < generations.size(); ++i) {
      const auto& monitor = workers_->monitors()[i];
      if (const std::uint64_t slots = monitor->slots(); place >= slots) {
        place -= slots;
        continue;
      }
      const bool has_row = generations[i] == chosen->generation;
      const auto end = [&](FlowRecord record, std::span<const std::byte> row) {
        record.end_reason = EndReason::forced_end;
        use(record, has_row ? row : std::span<const std::byte>());
      };
      return monitor->visit_slot(static_cast<std::uint32_t>(place), std::ref(end));
    }
  };
  merger_->merge(*chosen->schema.statistics(), places, read,
                 [&](const FlowRecord& record, std::span<const std::byte> row) {
                   visit_flow(record, row, chosen->generation, *chosen, visit);
                 });
}

}  // namespace parshall
