// SPDX-License-Identifier: Apache-2.0
#include "app/interface_pair.hpp"

#include <fmt/format.h>

#include <thread>
#include <utility>

#include "app/privileges.hpp"
#include "base/parse.hpp"
#include "base/random_seed.hpp"
#include "base/realtime.hpp"
#include "cli/messages.hpp"
#include "cli/signals.hpp"
#include "pipeline/capture/interface_set.hpp"

namespace parshall::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto kNap = 10ms;

}  // namespace

std::optional<Error> InterfacePair::problem(const std::string& up, const std::string& down) {
  if (up.empty() || down.empty())
    return Error{"name two interfaces: -i the one before the device, --to the one behind it"};
  if (up == down) return Error{down + " is named twice: name the interfaces of two points"};
  for (const std::string& name : {up, down})
    if (name == InterfaceSet::kAny) return Error{"any is not one point: name interfaces (ip link)"};
  return std::nullopt;
}

std::optional<Error> InterfacePair::set_times(const std::string& longest, const std::string& duration,
                                              Settings& settings) {
  const auto longest_ns = parse_duration_ns(longest);
  if (!longest_ns || *longest_ns < 1'000'000 || *longest_ns > 60'000'000'000)
    return Error{fmt::format("--wait {}: give a time from 1ms to 60s", longest)};
  const auto duration_ns = duration.empty() ? 0 : parse_duration_ns(duration);
  if (!duration_ns || (*duration_ns == 0 && !duration.empty()))
    return Error{fmt::format("--duration {}: give a time, such as 10s", duration)};
  settings.longest_ns = *longest_ns;
  settings.duration_ns = *duration_ns;
  return std::nullopt;
}

InterfacePair::InterfacePair(const char* command, Settings settings)
    : command_(command), settings_(std::move(settings)) {
  points_[0].name = settings_.up;
  points_[1].name = settings_.down;
}

std::optional<Error> InterfacePair::open() {
  for (Point& point : points_) {
    auto socket = PacketSocket::open({.interface = point.name});
    if (!socket) return socket.error();
    point.socket = *std::move(socket);
    if (auto error = prepare_filter(point.socket->link_types())) return error;
  }
  return std::nullopt;
}

std::optional<Error> InterfacePair::confine() {
  if (auto error = drop_privileges({})) return error;
  auto sandbox = sandbox::Sandbox::make(sandbox::Wanted::on, {.sockets = {sandbox::Sockets::local}});
  if (!sandbox) return sandbox.error();
  sandbox_ = *std::move(sandbox);
  return sandbox_.enter();
}

std::optional<Error> InterfacePair::run(const std::function<bool()>& each_second) {
  ids_.emplace(random_seed(), settings_.on_the_way);
  for (Point& point : points_) {
    point.thread = std::make_unique<TapThread>(std::move(point.socket->take_queues().front()), *ids_, settings_.filter,
                                               point.socket->descriptors());
    if (auto error = point.socket->listen()) return error;
  }
  began_ns_ = realtime_ns();
  found_.emplace(random_seed(), began_ns_, LiveComparison::Limits{.interval_ns = settings_.interval_ns});
  found_->up().name = settings_.up;
  found_->down().name = settings_.down;
  say(command_, fmt::format("comparing {} with {}; end with Ctrl-C", settings_.up, settings_.down));
  const auto began = Clock::now();
  const std::chrono::nanoseconds duration(settings_.duration_ns), longest(settings_.longest_ns);
  watch([&] { return stop_asked() || has_gone() || (duration != 0ns && Clock::now() - began >= duration); },
        each_second);
  const std::uint64_t end_ns = realtime_ns();
  if (longest >= 2s)
    say(command_,
        fmt::format("waiting {:.3g} s for packets on their way", std::chrono::duration<double>(longest).count()));
  watch([last = Clock::now() + longest] { return Clock::now() >= last; }, each_second);
  catch_up();
  found_->end(end_ns);
  return std::nullopt;
}

Compared InterfacePair::compared() {
  for (const auto& [tap, point] : {std::pair(&found_->up(), &points_[0]), std::pair(&found_->down(), &points_[1])}) {
    const Counters counters = point->socket->counters();
    tap->missed = counters[Counter::nic_missed];
    tap->joined = counters[Counter::joined];
  }
  result_ = found_->result();
  return {found_->up(), found_->down(), result_, &found_->over_time()};
}

std::optional<Error> InterfacePair::damage() const {
  for (const Point& point : points_)
    if (auto damage = point.thread->source().damage()) return damage;
  return std::nullopt;
}

std::optional<Error> InterfacePair::prepare_filter(const std::vector<LinkType>& link_types) {
  if (!settings_.filter) return std::nullopt;
  if (auto error = settings_.filter->compile_for(link_types)) return error;
  return settings_.filter->refused_by(link_types);
}

void InterfacePair::watch(const std::function<bool()>& is_over, const std::function<bool()>& each_second) {
  const std::chrono::nanoseconds longest(settings_.longest_ns);
  auto next_settle = Clock::now() + longest, next_second = Clock::now();
  std::optional<std::uint64_t> asked_ns;
  while (!is_over()) {
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(kNap, longest));
    const auto now = Clock::now();
    if (!asked_ns && now >= next_settle) {
      asked_ns = realtime_ns();
      ask();
    }
    const bool is_complete = asked_ns && caught_up();
    take();
    if (is_complete) {
      found_->settle(*asked_ns);
      next_settle = now + longest;
      asked_ns.reset();
    }
    if (now < next_second) continue;
    next_second = now + 1s;
    tell_links();
    if (!each_second()) return;
  }
}

void InterfacePair::ask() {
  for (Point& point : points_) point.thread->ask();
}

/// Takes all packets that are there now.
void InterfacePair::catch_up() {
  ask();
  do {
    std::this_thread::sleep_for(kNap);
    take();
  } while (!caught_up());
  take();
}

void InterfacePair::take() {
  points_[0].thread->take(found_->up(), found_->flows());
  points_[1].thread->take(found_->down(), found_->flows());
}

void InterfacePair::tell_links() {
  for (Point& point : points_) {
    const bool is_up = point.thread->source().state() == InputState::up;
    if (is_up != point.was_up) say(command_, fmt::format("{} is {}", point.name, is_up ? "up again" : "down"));
    point.was_up = is_up;
  }
}

}  // namespace parshall::cli
