// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>

#include "app/alarm_hook.hpp"
#include "app/alarm_notice.hpp"
#include "app/commands.hpp"
#include "app/configured_outputs.hpp"
#include "app/link_notice.hpp"
#include "app/live/live_session.hpp"
#include "app/live/live_view.hpp"
#include "app/live/terminal.hpp"
#include "app/live_rows.hpp"
#include "app/main_report.hpp"
#include "app/output_stall.hpp"
#include "app/output_watch.hpp"
#include "app/privileges.hpp"
#include "app/service_notice.hpp"
#include "app/task_results.hpp"
#include "app/watch_options.hpp"
#include "app/web/feed.hpp"
#include "app/web/page.hpp"
#include "base/counted.hpp"
#include "cli/messages.hpp"
#include "cli/signals.hpp"
#include "parshall/marks.hpp"
#include "parshall/metrics.hpp"
#include "parshall/metrics_text.hpp"
#include "parshall/run.hpp"
#include "parshall/sources/source_kind.hpp"

namespace parshall::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kTick{2};
constexpr std::chrono::microseconds kPauseTick{50};  ///< while the workers of a file may be waiting for a report
constexpr std::chrono::seconds kPatience{2};         ///< before a slow reader of an output is reported

/// Runs the command once, from its plan to its exit status.
class Watch {
 public:
  Watch(const WatchOptions& options, WatchPlan plan) : options_(options), plan_(std::move(plan)) {}

  int run() {
    ::tzset();  // the sandbox lets nobody read the time zone later
    if (options_.live) {
      if (plan_.every_ns != 0)
        return fail(Error{"--live shows the reports that --every would write: leave out one of them"}, kUsage);
      if (const auto fault = live::check_terminal())
        return fail(fault->error, fault->fault == live::TerminalFault::not_a_terminal ? kUsage : kFailed);
    }
    if (const auto error = begin_hook()) return fail(*error, kFailed);
    if (plan_.web) {
      auto server = web::open_page(*plan_.web);
      if (!server) return fail(server.error(), kFailed);
      server_ = *std::move(server);
    }
    const SourceKind& kind = kind_of(plan_.plan.source);
    Held held = Held::of(plan_.plan);
    if (*sandbox_of(options_) != sandbox::Wanted::off)
      if (const auto error = held.hold_filter(plan_.plan.source)) return fail(*error, kUsage);
    if (kind.is_held_wholly)
      if (const auto error = give_up_rights()) return fail(*error, kFailed);
    auto wired = complete(options_, plan_, held);
    if (!wired) return fail(with_reason(wired.error()), kUsage);
    const auto opened = [&] { return kind.is_held_wholly ? std::nullopt : give_up_rights(); };
    auto run = Run::open(plan_.plan, *std::move(wired), {}, opened, std::move(held));
    if (!run) return fail(run.error(), kFailed);
    run_ = *std::move(run);
    if (const auto error = run_->filter_problem()) return fail(*error, kUsage);
    if (server_) server_->begin();
    auto output = Output::open(options_.output);
    if (!output) return fail(output.error(), kFailed);
    try {
      add_outputs(*std::move(output));
    } catch (const std::bad_alloc&) {
      return fail(Error{"no memory for the outputs: ask for fewer flows with --flows, or for fewer outputs"}, kFailed);
    }
    catch_signals();
    configured_.emplace(*run_, plan_.plan, options_.command, !sandbox_.is_off());
    if (const auto error = run_->start()) return fail(*error, kFailed);
    if (server_)
      server_->add(
          {.path = kMetricsPath, .type = std::string(MetricsText::kType), .make = [this] { return run_->metrics(); }});
    report_->begin();
    link_.emplace(options_.command, kind.name_in(plan_.plan.source), session());
    if (plan_.state) tell(plan_.state->begin(wiring().session.seed));
    announce();
    service_.ready();
    if (options_.live) {
      if (const auto error = watch_live()) return fail(*error, kFailed);
    } else {
      watch();
    }
    return finish();
  }

 private:
  Session& session() { return run_->session(); }
  const Wiring& wiring() const { return run_->wiring(); }

  /// Starts the hook's helper. Privileges are still there, this is the only thread, and no file is open that another
  /// process should not have.
  std::optional<Error> begin_hook() {
    if (options_.hook.empty()) return std::nullopt;
    auto runner = CommandRunner::begin(options_.hook, {.user = options_.user, .runs_commands = true});
    if (!runner) return runner.error();
    hook_runner_ = *std::move(runner);
    return std::nullopt;
  }

  /// Drops privileges before untrusted input arrives. Folders for outputs are created by their later owner.
  std::optional<Error> give_up_rights() {
    const SourceNeeds needs = needs_of(plan_.plan.source);
    const Privileges kept{.user = options_.user,
                          .sets_scheduler = plan_.plan.threads.scheduler != Scheduler::other,
                          .detaches_xdp = needs.uses_xdp,
                          .is_on_pci = needs.is_on_pci};
    if (auto error = drop_privileges(kept)) return error;
    const sandbox::Wanted wanted = *sandbox_of(options_);
    auto made = sandbox::Sandbox::make(
        wanted, wanted == sandbox::Wanted::off ? sandbox::Rules{} : rules_of(options_, plan_.plan));
    if (!made) return made.error();
    sandbox_ = *std::move(made);
    return sandbox_.enter();
  }

  /// Adds a hint about host names in the filters of states, which are resolved too late to ask for names.
  Error with_reason(Error error) const {
    if (!sandbox_.is_off() && error.message.find("unknown host") != std::string::npos)
      error.message += "; the sandbox asks for no names that states have: give the address, or --sandbox off";
    return error;
  }

  int fail(const Error& error, ExitStatus status) const {
    return cli::fail(options_.command, status == kUsage ? explained(options_, plan_.plan, error) : error, status);
  }

  void tell(const std::optional<Error>& problem) const {
    if (problem) say(options_.command, problem->message);
  }

  void add_outputs(std::unique_ptr<Output> output) {
    Outputs& outputs = run_->outputs();
    if (!wiring().session.stage.windows.empty()) outputs.count_memory(RecentEvents::memory_bytes());
    report_.emplace(*run_, options_, plan_, recent_events_, std::move(output));
    outputs.add_direct(recent_events_);
    if (options_.live || server_) {
      results_.add_to(outputs);
      outputs.count_memory(web::Feed::memory_bytes(run_->capacity(), wiring().schema.asked()));
    }
    if (!options_.hook.empty()) {
      auto hook = std::make_unique<AlarmHook>(std::move(hook_runner_), [this] {
        return stop_asked() || (ending_.load(std::memory_order_relaxed) && !run_->waits());
      });
      hook_ = hook.get();
      outputs.add(std::move(hook),
                  {.name = "hook", .takes = {.alarms = ExporterTakes::Alarms::told}, .waits = run_->waits()});
    }
    if (!options_.live && !options_.quiet && !wiring().session.stage.windows.empty() && !run_->waits())
      show_alarms(outputs, options_.command);
    watched_.emplace(outputs, report_->queue(), report_->name(), options_.command);
    stall_.emplace(
        outputs, kPatience, [this] { return stop_asked() || ending_.load(std::memory_order_relaxed); },
        [this] { say_that_we_wait(); });
  }

  /// Announces the run once the workers run: packets sent from now on are counted.
  void announce() {
    if (server_ && plan_.web->token_is_made)  // shown only here
      say(options_.command,
          fmt::format("web page at http://{}/#token={}", server_->address().known_as(), plan_.web->token));
    if (options_.quiet) return;
    if (server_ && !plan_.web->token_is_made)
      say(options_.command, fmt::format("web page at http://{}/{}", server_->address().known_as(),
                                        plan_.web->token.empty() ? "" : "#token= and what is in --web-token"));
    if (plan_.state && plan_.state->before()) say(options_.command, plan_.state->gap());
    const SessionOptions& wired = wiring().session;
    const SourceKind& kind = kind_of(plan_.plan.source);
    say(options_.command,
        fmt::format("{}{}; at most {} MB for {} in {}{}", kind.is_link ? "capturing " : "", run_->description(),
                    (run_->memory_bytes() + (1 << 20) - 1) >> 20, counted(run_->capacity(), "flow"),
                    counted(wired.workers, "worker"), kind.can_wait(plan_.plan.source) ? ", taken as flows come" : ""));
    for (const auto& queue : *run_->outputs().queues())
      if (!queue->file().empty()) say(options_.command, fmt::format("{} is {}", queue->name(), queue->file()));
    if (const auto lacks = sandbox_.lacks(); !lacks.empty())
      say(options_.command, fmt::format("the sandbox cannot hold back {}", fmt::join(lacks, "; or ")));
    if (!plan_.plan.source.forward.empty())
      say(options_.command,
          "marked: " + describe_marks(wired.threads.marking, wiring().statistics.classifier->classes()));
  }

  void watch() {
    live::LiveSession watched(session());
    std::optional<web::Feed> feed;  // destroyed before anything else asks for a report
    if (server_) {
      live::RowChoice rows = rows_of(plan_.plan, wiring().schema);
      rows.has_flows = true;
      feed.emplace(watched,
                   web::Feed::Options{.tasks = [this] { return results_.for_page(); },
                                      .alarms = [this](const auto& within) { return results_.page_alarms(within); },
                                      .rows = std::move(rows),
                                      .local = *Networks::parse(plan_.plan.rows.local),
                                      .seed = wiring().session.seed},
                   *server_);
    }
    const bool by_packet_time = wiring().session.limits.pause_every_ns != 0;
    auto next_report = Clock::now() + std::chrono::nanoseconds(plan_.every_ns);
    auto stopped = Clock::time_point::max();
    std::chrono::microseconds tick = kPauseTick;  // grows, as the run over a small file ends soon
    while (!session().finished()) {
      const auto now = Clock::now();
      if (stop_asked() || run_->time_is_up() || report_->failed() || watched_->reader_gone()) {
        session().stop();
        stopped = std::min(stopped, now);
      }
      if (stopped < now - kPatience) say_that_we_wait();  // workers of a file wait for it too
      look();
      warn_of_dropped_records();
      if (by_packet_time && session().paused()) {
        report_so_far();
        session().go_on();
      } else if (!by_packet_time && plan_.every_ns != 0 && now >= next_report) {
        report_so_far();
        next_report = std::max(next_report + std::chrono::nanoseconds(plan_.every_ns), Clock::now());
      }
      std::this_thread::sleep_for(by_packet_time ? kPauseTick : session().nap(tick));
      tick = std::min<std::chrono::microseconds>(2 * tick, kTick);
    }
  }

  /// Handles signals and configuration changes, and reports them.
  void look() {
    configured_->look([this](bool begins) { begins ? service_.reloading() : service_.ready(); },
                      [this] {
                        tell_service();
                        return !stop_asked() && !run_->time_is_up();
                      });
    watched_->look();
    if (plan_.state) tell(plan_.state->look());
    link_->look();
    tell_service();
  }

  void tell_service() {
    service_.look(
        [this] {
          const Accounting counters{session().counters()};
          return fmt::format("{} counted, {} lost", counted(counters.counted(), "packet"), counters.lost());
        },
        [this] { return session().workers_go_on(); });
  }

  void report_so_far() {
    const auto report = session().snapshot();
    if (!report) return;
    if (report_->write(*report)) session().confirm_written();
  }

  /// Warns once; the reports say how many.
  void warn_of_dropped_records() {
    if (report_->queue() != nullptr || warned_ || session().records_dropped() == 0) return;
    warned_ = true;
    say(options_.command,
        "ended records do not fit in the spool before the next report: they are counted and dropped; to keep them, "
        "use a larger --spool, a TMPDIR with room, or more reports (--every)");
  }

  /// Runs the live view. When the time is up, measuring ends; a signal or the user ends the view too.
  std::optional<Error> watch_live() {
    live::LiveSession watched(session());
    const auto leave = [&] {
      look();
      if (run_->time_is_up()) session().stop();
      return stop_asked();
    };
    auto local = Networks::parse(plan_.plan.rows.local);
    if (!local) return local.error();
    auto outcome = live::watch_live(watched, {.own = wiring().schema,
                                              .statistics = wiring().statistics,
                                              .local = *std::move(local),
                                              .rows = rows_of(plan_.plan, wiring().schema),
                                              .own_columns = begins_with_flows(plan_.plan),
                                              .packets_only = plan_.plan.flows.packets_only,
                                              .has_states = wiring().session.stage.states != nullptr,
                                              .marks = !plan_.plan.source.forward.empty(),
                                              .leave = leave,
                                              .events = [this](const auto& within) { return results_.lines(within); },
                                              .recalls = [this] { return results_.recalls(); }});
    session().stop();
    if (!outcome) return outcome.error();
    if (outcome->other_columns) report_->forget_order();
    if (outcome->chosen_s > 0)
      say(options_.command,
          fmt::format("the statistics per flow were counted since {:.1f} s after the start", outcome->chosen_s));
    return std::nullopt;
  }

  /// Reports once that the run waits.
  void say_that_we_wait() {
    if (!said_that_we_wait_.exchange(true)) say(options_.command, watched_->whom_we_wait_for());
  }

  int finish() {
    ending_.store(true, std::memory_order_relaxed);
    service_.stopping();
    server_.reset();  // it would go on showing the state of a second before the end
    while (!run_->ended_within(kPatience)) say_that_we_wait();
    const Report report = run_->finish();
    if (plan_.state) tell(plan_.state->end());
    warn_of_dropped_records();
    int status = report_->end(report) ? kDone : kFailed;
    watched_->look();
    if (watched_->reader_gone() || report_->reader_gone())
      status = kReaderGone;
    else if (status == kFailed)
      report_->rescue(report);
    if (status == kDone && watched_->lost()) status = kFailed;
    watched_->tell_account();
    if (const std::uint64_t lost = session().recalls_not_taken(); lost != 0)
      say(options_.command,
          fmt::format("{} of recall not taken in time, and lost: write them to a faster disk", counted(lost, "line")));
    if (!hook_succeeded() && status == kDone) status = kFailed;
    if (const auto damage = session().damage()) {
      say(options_.command, damage->message);
      if (status == kDone) status = session().input_state() == InputState::gone ? kFailed : kDamaged;
    }
    for (const Error& left_out : session().left_out_by_filter()) say(options_.command, left_out.message);
    if (report_->is_unsorted() && status == kDone) status = kDamaged;
    return status;
  }

  /// Reports how the hook's commands ended. Returns true if none failed, or without a hook.
  bool hook_succeeded() {
    if (hook_ == nullptr) return true;
    const bool good = hook_->failed() + hook_->not_run() == 0;
    if (!options_.quiet || !good)
      say(options_.command,
          fmt::format("the command of --hook ran {} ({} failed){}", counted(hook_->runs(), "time"), hook_->failed(),
                      hook_->not_run() == 0
                          ? ""
                          : fmt::format("; {} came too late for a run", counted(hook_->not_run(), "alarm"))));
    return good;
  }

  const WatchOptions& options_;
  WatchPlan plan_;
  RecentEvents recent_events_;
  TaskResults results_;
  std::unique_ptr<CommandRunner> hook_runner_;
  const AlarmHook* hook_ = nullptr;  ///< owned by the outputs
  std::unique_ptr<Run> run_;
  std::unique_ptr<web::Server> server_;  ///< destroyed before the run that it reads

  std::optional<MainReport> report_;
  std::optional<ConfiguredOutputs> configured_;
  std::optional<OutputWatch> watched_;
  ServiceNotice service_;
  sandbox::Sandbox sandbox_;
  bool warned_ = false;
  std::optional<LinkNotice> link_;
  std::atomic<bool> ending_{false}, said_that_we_wait_{false};
  std::optional<OutputStall> stall_;  ///< set where this thread itself may block
};

/// Adds a command with the options of watch.
void add(Command app, int& status, std::shared_ptr<WatchOptions> options, const std::string& help) {
  Command command = app.add_subcommand(options->command, help);
  declare(command, *options);
  command->callback([options, command, &status] {
    options->before = options->given.value_before("filter", command);
    auto planned = begin(*options);
    if (planned) {
      status = Watch(*options, *std::move(planned)).run();
      return;
    }
    status = cli::fail(options->command, with_place(planned.error()), kUsage);
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
