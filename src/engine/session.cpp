// SPDX-License-Identifier: Apache-2.0
#include "engine/session.hpp"

#include <algorithm>
#include <iterator>

#include "base/heap.hpp"

namespace parshall {
namespace {

constexpr std::chrono::microseconds kSnapshotPoll{200}, kAnalyseEvery{500},
    kDecideEvery{20};  // workers may be waiting for it

/// Returns true if all sources wait; a wire may lead from a file to an interface.
bool all_wait(const Input& input) noexcept {
  return !input.sources.empty() &&
         std::ranges::all_of(input.sources, [](const auto& source) { return source->lossless(); });
}

}  // namespace

Session::Session(Input input, SessionOptions options, Schema schema, Stages stages, TaskSets tasks)
    : input_(std::move(input)),
      options_(std::move(options)),
      memory_bytes_(memory_bytes(options_, schema) + tasks.memory_bytes() + input_.memory_bytes +
                    (options_.outputs == nullptr ? 0 : options_.outputs->memory_bytes())),
      events_(/*can_wait=*/all_wait(input_)) {
  options_.threads.ring_packets =
      std::max(options_.threads.ring_packets, options_.batch);  // the same thread fills and empties it
  const bool workers_wait = all_wait(input_);
  if (stages.workers.empty()) stages = make_stages(options_, schema, workers_wait);
  memory_ = std::move(stages.memory);
  if (workers_wait) options_.stage.control = nullptr;
  if (options_.classifiers != 0)
    classifiers_ = class_helpers_maker()(schema.statistics()->flow_class()->classifier(), options_.classifiers,
                                         options_.threads.busy_poll ? Waiting::busily : Waiting::soon_asleep);
  chosen_ = std::make_shared<const Chosen>(Chosen{std::move(schema), 0});
  const FlowIdentity identity(options_.key, options_.identity, options_.seed, options_.hash);
  const bool shared = input_.dealing == Dealing::all_to_each && options_.threads.model != ThreadModel::pipeline;
  const TcpWishes tcp{.facts = options_.follows_tcp(),
                      .together = options_.follows_tcp() && options_.workers > 1,
                      .side = options_.stage.side_facts,
                      .raw = options_.stage.payloads_behind.has_value(),
                      .biflow = options_.stage.biflow,
                      .names = options_.stage.packet_names ? std::optional(PacketNames(options_.seed)) : std::nullopt};
  const std::size_t lane_batch =
      input_.dealing == Dealing::in_turns ? Turns::packets_for(options_.batch) : options_.batch;
  std::vector<std::unique_ptr<Lane>> lanes;
  for (std::size_t i = 0; i < input_.sources.size(); ++i) {
    const Partition partition =
        shared ? Partition{static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(input_.sources.size())}
               : Partition{};
    lanes.push_back(std::make_unique<Lane>(std::move(input_.sources[i]),
                                           FrontEnd(options_.header, identity, partition, options_.filter, tcp),
                                           lane_batch, options_.limits));
  }
  workers_ = std::make_unique<Workers>(std::move(lanes), std::move(stages.workers), options_.threads, input_.dealing);
  loss_watch_ = std::make_unique<LossWatch>(*workers_, input_.device, options_.identity != Identity::exact,
                                            options_.threads.model != ThreadModel::run_to_completion);
  if (const auto& losses = chosen_->schema.losses()) loss_watch_->begin(losses);
  if (chosen_->schema.needs_interval() && options_.snapshots) bases_.emplace(most_reported(options_), options_.seed);
  if (may_overlap()) merger_.emplace(most_live(), options_.seed);
  if (classifiers_) {
    std::vector<const ClassJobs*> jobs;
    for (const auto& stage : workers_->stages()) jobs.push_back(stage->class_jobs());
    classifiers_->serve(jobs);
  }
  pace_.emplace(*workers_);
  collector_.emplace(*workers_, events_,
                     Collector::Options{.outputs = options_.outputs,
                                        .keeps_ended = options_.keeps_ended,
                                        .ended_bytes = options_.ended_bytes,
                                        .recalls = recalls()});
  if (tasks.sets().empty()) return;
  std::vector<RecordRing*> rings;
  for (const auto& stage : workers_->stages()) rings.push_back(&stage->window_messages());
  std::span<const StateOutcome> outcomes;
  if (options_.stage.states) outcomes = options_.stage.states->outcomes;
  analyst_.emplace(std::move(tasks), std::move(rings), events_, outcomes,
                   options_.stage.control ? options_.stage.control->recalls : nullptr);
}

Session::~Session() {
  stop();
  events_.stop_waiting();
  workers_->join();
  analysing_.store(false, std::memory_order_release);
  if (analysis_.joinable()) analysis_.join();
  collector_->finish();
  classifiers_.reset();
  loss_watch_.reset();
  workers_.reset();  // sources go before what they depend on
}

std::optional<Error> Session::start() {
  summarizer_.emplace(input_, options_, *chosen_->schema.statistics(), *workers_, analyst_ ? &*analyst_ : nullptr);
  commit_.start(std::move(memory_));
  collector_->start([this] { loss_watch_->look(); });
  if (analyst_)
    analysis_ = std::thread([this] {
      TrafficPace pace(*workers_);
      const std::chrono::microseconds every = options_.stage.states ? kDecideEvery : kAnalyseEvery;
      while (analysing_.load(std::memory_order_acquire))
        if (analyst_->poll())
          pace.note_work();
        else
          std::this_thread::sleep_for(pace.nap(every));
      while (analyst_->poll()) {
      }
      analysed_.store(true, std::memory_order_release);
    });
  if (options_.labeller) options_.labeller->start();
  if (classifiers_) {
    std::vector<unsigned> cores = options_.threads.cores;
    if (!cores.empty())
      std::rotate(cores.begin(), cores.begin() + static_cast<std::ptrdiff_t>(workers_->threads() % cores.size()),
                  cores.end());
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

/// Returns null if recall per window was not asked for.
const RecallBoard* Session::recalls() const noexcept {
  const RecallBoard* const board = options_.stage.control ? options_.stage.control->recalls.get() : nullptr;
  return board != nullptr && board->windows ? board : nullptr;
}

/// Takes events from the queue. Tasks may wait for room in it, and workers for the tasks, so a thread that waits for
/// workers must do this.
void Session::keep_events() {
  if (options_.outputs == nullptr) std::ranges::move(events_.take(), std::back_inserter(last_events_));
}

bool Session::ended_within(std::chrono::milliseconds most) {
  const auto until = Clock::now() + most;
  const auto is_done = [&](auto done) {
    while (!done()) {
      if (Clock::now() >= until) return false;
      keep_events();
      std::this_thread::sleep_for(std::min<Clock::duration>(nap(kAnalyseEvery), until - Clock::now()));
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
  collector_->end();
  if (!is_done([this] { return collector_->is_done(); })) return false;
  collector_->finish();
  return true;
}

std::uint64_t Session::packets_polled() const noexcept {
  std::uint64_t packets = 0;
  for (const auto& lane : workers_->lanes()) packets += lane->polled();
  const bool repeated = input_.dealing == Dealing::all_to_each && !workers_->lanes().empty();
  return repeated ? packets / workers_->lanes().size() : packets;
}

Counters Session::counters() const {
  Counters all = collector_->counters();
  for (const auto& lane : workers_->lanes()) all += lane->counters();
  for (const auto& stage : workers_->stages()) all += stage->published();
  if (input_.device) set_device(all, input_.device());  // lanes hold their queues' part, as of their last read
  return all;
}

std::optional<Error> Session::damage() const {
  for (const auto& lane : workers_->lanes())
    if (auto damage = lane->source().damage()) return damage;
  if (collector_->unreadable())
    return Error{
        "records of ended flows could not be read back from the temporary file: this report lacks them; set "
        "TMPDIR to a sound disk"};
  return std::nullopt;
}

std::vector<Error> Session::left_out_by_filter() const {
  if (!options_.filter) return {};
  return options_.filter->left_out(input_.dealing == Dealing::all_to_each ? workers_->lanes().size() : 1);
}

bool Session::workers_go_on() {
  last_ticks_.resize(workers_->lanes().size());
  bool all = true;
  for (std::size_t i = 0; i < last_ticks_.size(); ++i) {
    const Lane& lane = *workers_->lanes()[i];
    const std::uint64_t before = std::exchange(last_ticks_[i], lane.all_cycles());
    all &= lane.ended() || lane.lossless() || before != last_ticks_[i];
  }
  return all;
}

InputState Session::input_state() const {
  InputState worst = InputState::up;
  for (const auto& lane : workers_->lanes()) worst = std::max(worst, lane->source().state());
  return worst;
}

bool Session::may_overlap() const noexcept {
  return workers_->stages().size() > 1 && input_.dealing == Dealing::by_device &&
         options_.threads.model != ThreadModel::pipeline;
}

std::uint64_t Session::most_live() const noexcept {
  return options_.table == nullptr ? 0 : options_.workers * options_.table->slots(options_.stage.flows);
}

void Session::change_columns(Schema schema) {
  if (schema.needs_interval() && !bases_) bases_.emplace(most_reported(options_), options_.seed);
  const std::uint64_t generation = chosen_->generation + 1;
  for (const auto& stage : workers_->stages()) stage->request_statistics({schema.statistics(), generation});
  chosen_ = std::make_shared<const Chosen>(Chosen{std::move(schema), generation});
  loss_watch_->follow(chosen_->schema.losses());
}

bool Session::snapshot_ready() const noexcept {
  return std::ranges::all_of(workers_->stages(), [](const auto& stage) { return stage->snapshot_ready() != nullptr; });
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
  for (const auto& stage : workers_->stages()) stage->request_snapshot(summarizer_->reports() + 1);
}

std::optional<Report> Session::poll_snapshot(SnapshotFlows flows) {
  if (!snapshot_ready()) return std::nullopt;
  const std::uint64_t number = summarizer_->reports() + 1;
  if (flows == SnapshotFlows::live_and_ended) collector_->collect_now();
  std::vector<StageCounts> counts;
  for (const auto& stage : workers_->stages()) counts.push_back(stage->snapshot_ready()->counts);
  Report report{.summary = summarize(counts, /*final=*/false), .columns = {}, .flows = nullptr};
  report.columns = chosen_->schema.columns();
  report.flows = [this, number, flows](const std::function<void(const ReportFlow&)>& visit) {
    visit_snapshots(number, flows, visit);
  };
  return report;
}

}  // namespace parshall
