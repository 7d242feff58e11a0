// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>

#include "cli/commands.hpp"
#include "cli/input.hpp"
#include "cli/watch_options.hpp"
#include "pipeline/report/sink.hpp"
#include "pipeline/report/summary_text.hpp"

namespace parshall::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kTick{2};

std::atomic<int> signals{0};
static_assert(std::atomic<int>::is_always_lock_free);

/// The first asks for a clean stop and the final report, the second ends at once.
void on_signal(int number) {
  if (signals.fetch_add(1, std::memory_order_relaxed) > 0) ::_exit(128 + number);
}

void catch_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  for (const int number : {SIGINT, SIGTERM}) ::sigaction(number, &action, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
}

void complain(const Error& error) { fmt::print(stderr, "parshall watch: {}\n", error.message); }

int fail(const Error& error, ExitStatus status) {
  complain(error);
  return status;
}

/// One run of the command, from its plan to its exit status.
class Watch {
 public:
  Watch(const WatchOptions& options, WatchPlan plan) : options_(options), plan_(std::move(plan)) {}

  int run() {
    auto output = Output::open(options_.output);
    if (!output) return fail(output.error(), kFailed);
    output_ = *std::move(output);
    sink_ = sink_entry().make({.several = plan_.every_ns != 0});
    auto input = open_input(options_, plan_.session);
    if (!input) return fail(input.error(), kFailed);
    announce(*input);
    const auto columns = plan_.columns;
    try {
      session_.emplace(*std::move(input), plan_.session, columns);
    } catch (const std::bad_alloc&) {
      return fail(Error{fmt::format("no memory for {} flows ({} MB); ask for fewer with --flows", plan_.session.monitor.flows,
                                    Session::memory_bytes(plan_.session, columns) >> 20)}, kFailed);
    }
    catch_signals();
    if (const auto error = session_->start()) return fail(*error, kFailed);
    watch();
    return finish();
  }

 private:
  const SinkEntry& sink_entry() const { return *std::ranges::find(sink_registry(), options_.format, &SinkEntry::name); }

  void announce(const Input& input) const {
    if (options_.quiet) return;
    fmt::print(stderr, "parshall watch: {}; at most {} MB for {} flows in {} worker{}\n", input.description,
               (Session::memory_bytes(plan_.session, plan_.columns) + (1 << 20) - 1) >> 20,
               plan_.session.table == nullptr ? 0 : plan_.session.monitor.flows * plan_.session.workers, plan_.session.workers,
               plan_.session.workers == 1 ? "" : "s");
  }

  void watch() {
    const auto began = Clock::now();
    auto next_report = began + std::chrono::nanoseconds(plan_.every_ns);
    while (!session_->finished()) {
      const auto now = Clock::now();
      const bool time_is_up = plan_.wall_duration_ns != 0 && now - began >= std::chrono::nanoseconds(plan_.wall_duration_ns);
      if (signals.load(std::memory_order_relaxed) > 0 || time_is_up || output_->error()) session_->stop();
      if (plan_.every_ns != 0 && now >= next_report) {
        if (auto report = session_->snapshot()) write(*std::move(report));
        next_report += std::chrono::nanoseconds(plan_.every_ns);
      }
      std::this_thread::sleep_for(kTick);
    }
  }

  int finish() {
    const Report report = session_->final_report();
    int status = write(report) ? kDone : kFailed;
    if (status == kFailed) rescue(report);
    if (const auto damage = session_->damage()) {
      complain(*damage);
      if (status == kDone) status = kDamaged;
    }
    return status;
  }

  bool write(const Report& report) {
    auto ordered = sorted(report, options_.sort, plan_.top);
    if (!ordered) {
      complain(ordered.error());
      return false;
    }
    sink_->write(*ordered, *output_);
    return !output_->error();
  }

  /// The output is gone or full: what was measured goes to a file of its own.
  void rescue(const Report& report) {
    if (output_->error()) complain(*output_->error());
    const std::string path = (std::filesystem::temp_directory_path() / fmt::format("parshall-{}.{}", ::getpid(), options_.format)).string();
    if (auto output = Output::open(path)) {
      output_ = *std::move(output);
      sink_ = sink_entry().make({});
      if (write(report)) fmt::print(stderr, "parshall watch: the final report is in {}\n", path);
    }
    fmt::print(stderr, "parshall watch: {}\n", accounting_line(report.summary.total));
  }

  const WatchOptions& options_;
  WatchPlan plan_;
  std::unique_ptr<Output> output_;
  std::unique_ptr<ReportSink> sink_;
  std::optional<Session> session_;
};

}  // namespace

void add_watch(CLI::App& app, int& status) {
  auto options = std::make_shared<WatchOptions>();
  CLI::App* command = app.add_subcommand("watch", "Monitor a capture, an interface or built-in traffic");
  declare(*command, *options);
  command->callback([options, &status] {
    auto planned = plan(*options);
    if (!planned) {
      status = fail(planned.error(), kUsage);
      return;
    }
    status = Watch(*options, *std::move(planned)).run();
  });
}

}  // namespace parshall::cli
