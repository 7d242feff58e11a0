// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <deque>

#include "cli/messages.hpp"
#include "cli/signals.hpp"
#include "cli/whole_file.hpp"
#include "monitor/commands.hpp"
#include "monitor/event_hook.hpp"
#include "monitor/live/live_view.hpp"
#include "monitor/live/recall_tail.hpp"
#include "monitor/live/terminal.hpp"
#include "monitor/side_file.hpp"
#include "monitor/watch_options.hpp"
#include "parshall/marks.hpp"
#include "parshall/open_input.hpp"
#include "pipeline/output/event_json.hpp"
#include "pipeline/output/event_text.hpp"
#include "pipeline/output/recall_csv.hpp"
#include "pipeline/output/sink.hpp"
#include "pipeline/output/summary_text.hpp"

namespace parshall::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kTick{2};
constexpr std::chrono::microseconds kPauseTick{50};  ///< while the workers of a file may wait for a report
constexpr std::chrono::seconds kPatience{2};         ///< with who reads the output
constexpr std::size_t kEventsInReport = 10'000;      ///< more are in the --events file

/// A session as the live view wants it.
class LiveSession final : public live::Watched {
 public:
  explicit LiveSession(Session& session) : session_(session) {}
  std::uint64_t packets_polled() const override { return session_.packets_polled(); }
  bool finished() const override { return session_.finished(); }
  void begin_snapshot() override { session_.begin_snapshot(); }
  std::optional<Report> poll_snapshot() override { return session_.poll_snapshot(SnapshotFlows::live); }
  Report final_report() override { return session_.final_report(); }
  void change_columns(Schema schema) override { session_.change_columns(std::move(schema)); }

 private:
  Session& session_;
};

/// One run of the command, from its plan to its exit status.
class Watch {
 public:
  Watch(const WatchOptions& options, WatchPlan plan) : options_(options), plan_(std::move(plan)) {}

  int run() {
    if (options_.live) {
      if (plan_.every_ns != 0)
        return fail(Error{"--live shows the reports that --every would write: leave out one of them"}, kUsage);
      if (const auto fault = live::check_terminal())
        return fail(fault->error, fault->fault == live::TerminalFault::not_a_terminal ? kUsage : kFailed);
    }
    for (const std::string& path : {options_.output, options_.events, options_.recall})
      if (same_file(plan_.plan.source.file, path))
        return fail(Error{path + " is the capture itself: name another file to write to"}, kUsage);
    const auto schema = plan_.wiring.schema;
    try {
      Session::Monitors monitors;
      if (!plan_.plan.source.interface.empty())
        monitors = Session::make_monitors(plan_.wiring.session, schema, /*can_wait=*/false);
      auto tasks = TaskSets::make(plan_.wiring.tasks, plan_.wiring.task_options);
      if (!tasks) return fail(tasks.error(), kUsage);
      more_memory_bytes_ = tasks->memory_bytes();
      auto input = open_input(plan_.plan.source, plan_.wiring.session);
      if (!input) return fail(input.error(), kFailed);
      auto output = Output::open(options_.output);
      if (!output) return fail(output.error(), kFailed);
      output_ = *std::move(output);
      if (const int status = open_side_files(); status != kDone) return status;
      if (!options_.hook.empty()) hook_.emplace(options_.hook, std::chrono::nanoseconds(plan_.hook_every_ns));
      sink_ = sink_entry().make({.several = plan_.every_ns != 0});
      take_ended();
      description_ = input->description;
      more_memory_bytes_ += input->memory_bytes;
      session_.emplace(*std::move(input), plan_.wiring.session, schema, std::move(monitors), *std::move(tasks));
    } catch (const std::bad_alloc&) {
      return fail(Error{fmt::format("no memory for {} flows ({} MB); ask for fewer with --flows",
                                    plan_.wiring.session.monitor.flows,
                                    Session::memory_bytes(plan_.wiring.session, schema) >> 20)},
                  kFailed);
    }
    catch_signals();
    if (const auto error = session_->start()) return fail(*error, kFailed);
    announce();
    if (options_.live) {
      if (const auto error = watch_live()) return fail(*error, kFailed);
    } else {
      watch();
    }
    return finish();
  }

 private:
  int fail(const Error& error, ExitStatus status) const {
    say(options_.command, error.message);
    return status;
  }

  const SinkEntry& sink_entry() const { return *std::ranges::find(sink_registry(), options_.format, &SinkEntry::name); }

  /// Records leave as they end where the format can, and where nobody asked for reports before the end. Of a report
  /// that shows the first few flows, only these are kept.
  void take_ended() {
    SessionOptions& session = plan_.wiring.session;
    const Schema& schema = plan_.wiring.schema;
    if (plan_.every_ns != 0 || options_.live || schema.needs_interval() || !session.keeps_ended) return;
    if (sink_entry().make_exporter != nullptr && plan_.sort.empty() && plan_.top == 0) {
      queue_.emplace(sink_entry().make_exporter(*output_), schema, input_can_wait(plan_.plan.source),
                     [this](std::span<const std::byte> record) { session_->keep_ended(record); });
      more_memory_bytes_ += ExportQueue::kBytes;
      session.take_ended = [this](std::span<const std::byte> record) { return queue_->put(record); };
    } else if (plan_.top != 0) {
      top_ = std::make_shared<TopFlows>(*place_of(schema.columns(), plan_.sort), plan_.top);
      session.take_ended = [this, &schema, values = std::vector<Value>(schema.columns().size())](
                               std::span<const std::byte> record) mutable {
        const RecordView view(record);
        schema.read(view.header.record, view.row, {}, values);
        top_->offer({view.header.record, values});
        return ExportQueue::Put::taken;
      };
    }
  }

  int open_side_files() {
    if (same_file(options_.output, options_.events))
      return fail(Error{options_.events + " is the report's file: name another one for --events"}, kUsage);
    if (const auto error = events_file_.open(options_.events)) return fail(*error, kFailed);
    for (const std::string& other : {options_.output, options_.events})
      if (same_file(other, options_.recall))
        return fail(Error{options_.recall + " is written to already: name another file for --recall"}, kUsage);
    if (const auto error = recall_file_.open(options_.recall)) return fail(*error, kFailed);
    if (recall_file_.is_open()) recall_file_.write(recall_csv_header());
    return kDone;
  }

  /// Said when the workers run: packets sent from now on are counted.
  void announce() const {
    if (options_.quiet) return;
    say(options_.command,
        fmt::format(
            "{}{}; at most {} MB for {} flows in {} worker{}", plan_.plan.source.interface.empty() ? "" : "capturing ",
            description_,
            (Session::memory_bytes(plan_.wiring.session, plan_.wiring.schema) + more_memory_bytes_ + (1 << 20) - 1) >>
                20,
            plan_.wiring.session.table == nullptr ? 0
                                                  : plan_.wiring.session.monitor.flows * plan_.wiring.session.workers,
            plan_.wiring.session.workers, plan_.wiring.session.workers == 1 ? "" : "s"));
    if (!plan_.plan.source.forward.empty())
      say(options_.command, "marked: " + describe_marks(plan_.wiring.session.threads.marking,
                                                        plan_.wiring.statistics.classifier->classes()));
  }

  void watch() {
    const bool by_packet_time = plan_.wiring.session.limits.pause_every_ns != 0;
    const auto began = Clock::now();
    auto next_report = began + std::chrono::nanoseconds(plan_.every_ns);
    while (!session_->finished()) {
      const auto now = Clock::now();
      const bool time_is_up =
          plan_.wiring.wall_duration_ns != 0 && now - began >= std::chrono::nanoseconds(plan_.wiring.wall_duration_ns);
      if (stop_asked() || time_is_up || output_failed() || reader_gone()) session_->stop();
      take_findings();
      warn_of_dropped_records();
      if (by_packet_time && session_->paused()) {
        report_so_far();
        session_->go_on();
      } else if (!by_packet_time && plan_.every_ns != 0 && now >= next_report) {
        report_so_far();
        next_report = std::max(next_report + std::chrono::nanoseconds(plan_.every_ns), Clock::now());
      }
      std::this_thread::sleep_for(by_packet_time ? kPauseTick : kTick);
    }
  }

  void report_so_far() {
    if (const auto report = session_->snapshot(); report && write(*report)) session_->confirm_written();
  }

  /// Once. The reports say how many.
  void warn_of_dropped_records() {
    if (std::exchange(warned_, warned_ || session_->records_dropped() != 0) || !warned_) return;
    say(options_.command,
        queue_
            ? fmt::format("{} is not written as fast as records end: those that find no room are counted, and dropped",
                          output_->name())
            : "records of ended flows find no room until the next report: they are counted, and dropped; a larger "
              "--spool, a TMPDIR with room, or more reports (--every) would keep them");
  }

  /// While the queue writes the output is its own.
  bool output_failed() const noexcept {
    return queue_ && !queue_is_done_ ? queue_->failed() : output_->error().has_value();
  }

  bool reader_gone() const noexcept {
    return (output_failed() && output_->reader_gone()) || events_file_.reader_gone() || recall_file_.reader_gone();
  }

  /// Time that is up ends the measuring; a signal, or the user, the view too.
  std::optional<Error> watch_live() {
    const auto began = Clock::now();
    LiveSession session(*session_);
    const auto leave = [&] {
      take_findings();
      if (plan_.wiring.wall_duration_ns != 0 &&
          Clock::now() - began >= std::chrono::nanoseconds(plan_.wiring.wall_duration_ns))
        session_->stop();
      return stop_asked();
    };
    auto outcome = live::watch_live(session, {.own = plan_.wiring.schema,
                                              .statistics = plan_.wiring.statistics,
                                              .packets_only = plan_.plan.flows.packets_only,
                                              .has_states = plan_.wiring.session.monitor.states != nullptr,
                                              .marks = !plan_.plan.source.forward.empty(),
                                              .leave = leave,
                                              .events = [this] { return latest_events(); },
                                              .recalls = [this] { return recalls_.tasks(); }});
    session_->stop();
    if (!outcome) return outcome.error();
    final_ = std::move(outcome->final_report);
    if (outcome->other_columns) plan_.sort = sink_entry().default_sort;
    if (outcome->chosen_s > 0) {
      say(options_.command,
          fmt::format("the statistics per flow were counted since {:.1f} s after the start", outcome->chosen_s));
    }
    return std::nullopt;
  }

  std::vector<std::string> latest_events() const {
    constexpr std::size_t kShown = 16;
    std::vector<std::string> texts;
    for (const Event& event : std::ranges::subrange(
             recent_events_.end() - static_cast<std::ptrdiff_t>(std::min(kShown, recent_events_.size())),
             recent_events_.end()))
      texts.push_back(event_text(event));
    return texts;
  }

  int finish() {
    Report report = final_ ? *final_ : session_->final_report();
    take_findings();
    if (top_) {
      report = *sorted(std::move(report), plan_.sort, plan_.top, top_);
      plan_.sort.clear();
      plan_.top = 0;
    }
    int status = (queue_ ? write_rest(report) : write(report)) ? kDone : kFailed;
    warn_of_dropped_records();
    if (reader_gone())
      status = kReaderGone;
    else if (status == kFailed)
      rescue(report);
    if (status == kDone && (events_file_.lost() || recall_file_.lost())) status = kFailed;
    if (const std::uint64_t lost = session_->recalls_not_taken(); lost != 0 && recall_file_.is_open())
      say(options_.command,
          fmt::format("{} lines were not written to {} in time, and are lost", lost, options_.recall));
    if (hook_) hook_->finish();
    if (hook_ && !options_.quiet)
      say(options_.command,
          fmt::format("the command of --hook ran {} times ({} failed); {} events came too soon after one",
                      hook_->runs(), hook_->failed(), hook_->left_out()));
    if (const auto damage = session_->damage()) {
      say(options_.command, damage->message);
      if (status == kDone) status = kDamaged;
    }
    return status;
  }

  /// After the records that ended, the flows that are live.
  bool write_rest(const Report& report) {
    bool told = false;
    while (!queue_->finished_within(kPatience))
      if (!std::exchange(told, true)) say(options_.command, fmt::format("waiting for who reads {}", output_->name()));
    queue_is_done_ = true;
    Exporter& exporter = queue_->exporter();
    if (!queue_->failed()) {
      report.flows([&](const ReportFlow& flow) { exporter.records({&flow, 1}); });
      exporter.flush();
    }
    const auto [records, packets] = queue_->counts();
    if (records.dropped != 0)
      say(options_.command,
          fmt::format("{}: {} records of ended flows ({} packets) = {} ({}) written + {} ({}) dropped", output_->name(),
                      records.offered, packets.offered, records.written, packets.written, records.dropped,
                      packets.dropped));
    return !exporter.error();
  }

  bool write(const Report& report) {
    auto ordered = sorted(report, plan_.sort, plan_.top);
    if (!ordered) {
      say(options_.command, ordered.error().message);
      return false;
    }
    const std::vector<Event> events(recent_events_.begin(), recent_events_.end());
    ordered->events = events;
    ordered->events_left_out = events_left_out_;
    sink_->write(*ordered, *output_);
    if (output_->error()) return false;
    recent_events_.clear();
    events_left_out_ = 0;
    return true;
  }

  /// Writes them to where the user wants them, and keeps the latest for the next report.
  void take_findings() {
    for (Event& event : session_->take_events()) {
      if (events_file_.is_open() || hook_) {
        const std::string json = event_json(event);
        if (events_file_.is_open()) events_file_.write(json + "\n");
        if (hook_) hook_->event(event.task, json);
      }
      recent_events_.push_back(std::move(event));
      if (recent_events_.size() <= kEventsInReport) continue;
      recent_events_.pop_front();
      ++events_left_out_;
    }
    events_file_.flush();
    for (const WindowRecall& told : session_->take_recalls()) {
      if (recall_file_.is_open()) recall_file_.write(recall_csv(told));
      recalls_.add(told);
    }
    recall_file_.flush();
  }

  /// The output is gone or full: what was measured goes to a new file.
  void rescue(const Report& report) {
    if (output_->error()) say(options_.command, output_->error()->message);
    if (auto output = Output::create_temporary("." + options_.format)) {
      output_ = *std::move(output);
      sink_ = sink_entry().make({});
      if (write(report)) say(options_.command, "the final report is in " + output_->name());
    } else {
      say(options_.command, output.error().message);
    }
    say(options_.command, accounting_line(report.summary.total));
  }

  const WatchOptions& options_;
  WatchPlan plan_;
  std::string description_;  ///< of the source
  std::unique_ptr<Output> output_;
  std::unique_ptr<ReportSink> sink_;
  std::optional<ExportQueue> queue_;  ///< nothing: flows leave in reports
  bool queue_is_done_ = false;        ///< from then on the output is the main thread's
  std::shared_ptr<TopFlows> top_;     ///< of the ended ones; null: reports have all
  SideFile events_file_{"events go into the report alone from now on"};
  SideFile recall_file_{"of recall the report has a summary"};
  live::RecallTail recalls_;
  std::optional<EventHook> hook_;
  std::deque<Event> recent_events_;
  std::uint64_t events_left_out_ = 0, more_memory_bytes_ = 0;
  bool warned_ = false;
  std::optional<Session> session_;
  std::optional<Report> final_;  ///< made while the live view showed it
};

}  // namespace

namespace {

/// A command with the options of watch.
void add(Command app, int& status, std::shared_ptr<WatchOptions> options, const std::string& help) {
  Command command = app.add_subcommand(options->command, help);
  declare(command, *options);
  command->callback([options, &status] {
    auto planned = plan(*options);
    if (planned) {
      status = Watch(*options, *std::move(planned)).run();
      return;
    }
    say(options->command, planned.error().message);
    status = kUsage;
  });
}

}  // namespace

void add_watch(Command app, int& status) {
  add(app, status, std::make_shared<WatchOptions>(), "Monitor a capture, an interface or built-in traffic");
}

void add_classify(Command app, int& status) {
  auto defaults = std::make_shared<WatchOptions>();
  defaults->command = "classify";
  defaults->plan.flows.idle_ns = 15'000'000'000;
  add(app, status, defaults, "Tell the application of each flow by its first packets: watch, with a model of train");
}

}  // namespace parshall::cli
