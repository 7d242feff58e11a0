// SPDX-License-Identifier: Apache-2.0
#include "app/compare_live.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "app/privileges.hpp"
#include "app/sandbox/sandbox.hpp"
#include "base/realtime.hpp"
#include "cli/messages.hpp"
#include "cli/signals.hpp"
#include "compare/live_comparison.hpp"
#include "compare/tap_thread.hpp"
#include "pipeline/capture/packet_socket.hpp"

namespace parshall::cli {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

/// One interface of the two.
struct Point {
  std::string name;
  std::unique_ptr<PacketSocket> socket;
  std::unique_ptr<TapThread> thread;
  bool was_up = true;
};

class LiveRun {
  static constexpr const char* kCommand = "compare";

 public:
  explicit LiveRun(LiveTaps taps) : taps_(std::move(taps)) {
    points_[0].name = taps_.up;
    points_[1].name = taps_.down;
  }

  /// Does all that needs privileges, and gives them up.
  std::optional<Error> open() {
    for (Point& point : points_) {
      auto socket = PacketSocket::open({.interface = point.name});
      if (!socket) return socket.error();
      point.socket = *std::move(socket);
      if (auto error = prepare_filter(point.socket->link_types())) return error;
    }
    auto output = Output::open(taps_.output);
    if (!output) return output.error();
    output_ = *std::move(output);
    if (auto error = drop_privileges({})) return error;
    auto sandbox = sandbox::Sandbox::make(sandbox::Wanted::on, {.sockets = {sandbox::Sockets::local}});
    if (!sandbox) return sandbox.error();
    sandbox_ = *std::move(sandbox);
    return sandbox_.enter();
  }

  std::optional<Error> run(std::uint64_t id_seed, std::uint64_t flow_seed) {
    const PacketIds ids(id_seed, taps_.on_the_way);
    for (Point& point : points_) {
      point.thread = std::make_unique<TapThread>(std::move(point.socket->take_queues().front()), ids, taps_.filter,
                                                 point.socket->descriptors());
      if (auto error = point.socket->listen()) return error;
    }
    found_.emplace(flow_seed, realtime_ns(), LiveComparison::Limits{});
    found_->up().name = taps_.up;
    found_->down().name = taps_.down;
    say(kCommand, fmt::format("comparing {} with {}; end with Ctrl-C", taps_.up, taps_.down));
    const auto began = Clock::now();
    const std::chrono::nanoseconds duration(taps_.duration_ns);
    watch([&] { return stop_asked() || has_gone() || (taps_.duration_ns != 0 && Clock::now() - began >= duration); });
    const std::uint64_t end_ns = realtime_ns();
    if (taps_.longest_ns >= kTellWait)
      say(kCommand,
          fmt::format("waiting {:.3g} s for packets on their way", static_cast<double>(taps_.longest_ns) * 1e-9));
    const auto last = Clock::now() + std::chrono::nanoseconds(taps_.longest_ns);
    watch([last] { return Clock::now() >= last; });
    catch_up();
    found_->end(end_ns);
    return std::nullopt;
  }

  ExitStatus finish() {
    if (taps_.draws) output_->write(kClear);
    write();
    output_->finish();
    if (output_->reader_gone()) return kReaderGone;
    if (const auto& error = output_->error()) return fail(kCommand, *error, kFailed), kFailed;
    for (const Point& point : points_)
      if (const auto damage = point.thread->source().damage()) return fail(kCommand, *damage, kDamaged), kDamaged;
    return kDone;
  }

 private:
  static constexpr const char* kClear = "\x1b[H\x1b[2J";
  static constexpr auto kNap = 10ms;
  static constexpr std::uint64_t kTellWait = 2'000'000'000;

  std::optional<Error> prepare_filter(const std::vector<LinkType>& link_types) {
    if (!taps_.filter) return std::nullopt;
    if (auto error = taps_.filter->compile_for(link_types)) return error;
    return taps_.filter->refused_by(link_types);
  }

  /// Compares until `is_over`.
  template <class IsOver>
  void watch(const IsOver& is_over) {
    const std::chrono::nanoseconds longest(taps_.longest_ns);
    auto next_settle = Clock::now() + longest;
    auto next_draw = Clock::now();
    bool is_asked = false;
    while (!is_over()) {
      std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(kNap, longest));
      const auto now = Clock::now();
      if (!is_asked && now >= next_settle) {
        for (Point& point : points_) point.thread->ask();
        is_asked = true;
      }
      const bool is_complete = is_asked && caught_up();
      take();
      if (is_complete) {
        found_->settle();
        next_settle = now + longest;
        is_asked = false;
      }
      if (now < next_draw) continue;
      next_draw = now + 1s;
      tell_links();
      if (taps_.draws) draw();
      if (output_->error()) return;
    }
  }

  bool caught_up() const { return points_[0].thread->has_caught_up() && points_[1].thread->has_caught_up(); }
  bool has_gone() const { return points_[0].thread->has_ended() || points_[1].thread->has_ended(); }

  /// Takes all packets that are there now.
  void catch_up() {
    for (Point& point : points_) point.thread->ask();
    do {
      std::this_thread::sleep_for(kNap);
      take();
    } while (!caught_up());
    take();
  }

  void take() {
    points_[0].thread->take(found_->up(), found_->flows());
    points_[1].thread->take(found_->down(), found_->flows());
  }

  void tell_links() {
    for (Point& point : points_) {
      const bool is_up = point.thread->source().state() == InputState::up;
      if (is_up != point.was_up) say(kCommand, fmt::format("{} is {}", point.name, is_up ? "up again" : "down"));
      point.was_up = is_up;
    }
  }

  void write() {
    for (const auto& [tap, point] : {std::pair(&found_->up(), &points_[0]), std::pair(&found_->down(), &points_[1])}) {
      const Counters counters = point->socket->counters();
      tap->missed = counters[Counter::nic_missed];
      tap->joined = counters[Counter::joined];
    }
    taps_.report.write(found_->up(), found_->down(), found_->result(), *output_);
  }

  void draw() {
    output_->write(kClear);
    write();
    output_->flush();
  }

  LiveTaps taps_;
  std::array<Point, 2> points_;
  std::unique_ptr<Output> output_;
  sandbox::Sandbox sandbox_;
  std::optional<LiveComparison> found_;
};

}  // namespace

ExitStatus compare_live(LiveTaps taps, std::uint64_t id_seed, std::uint64_t flow_seed) {
  LiveRun run(std::move(taps));
  auto error = run.open();
  if (!error) error = run.run(id_seed, flow_seed);
  if (error) return fail("compare", *error, kFailed), kFailed;
  return run.finish();
}

}  // namespace parshall::cli
