// SPDX-License-Identifier: Apache-2.0
#include "tester/watch_loss/loss_run.hpp"

#include <fmt/format.h>
#include <net/if.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "tester/host/child.hpp"

namespace parshall::tester {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kTick{10}, kAfterReady{300};
constexpr int kInterrupted = 128 + SIGINT;

/// Sleeps; returns false if the user wants to end.
bool pause(std::chrono::milliseconds time, const std::function<bool()>& stop) {
  for (const auto until = Clock::now() + time; Clock::now() < until; std::this_thread::sleep_for(kTick))
    if (stop()) return false;
  return !stop();
}

/// Counts the packet sockets that receive on the interface, from the kernel's list as the process's network namespace
/// shows it. Source: Linux, net/packet/af_packet.c, packet_seq_show().
std::size_t packet_sockets(pid_t pid, const LinkEnd& end) {
  const auto network_of = [](const std::string& process) {
    std::error_code none;
    return std::filesystem::read_symlink(fmt::format("/proc/{}/ns/net", process), none);
  };
  if (!end.space.empty() && network_of(std::to_string(pid)) == network_of("self")) return 0;  // not there yet
  const unsigned wanted = end.space.empty() ? ::if_nametoindex(end.interface.c_str()) : 0;
  std::ifstream sockets(fmt::format("/proc/{}/net/packet", pid));
  std::string line;
  std::size_t count = 0;
  std::getline(sockets, line);
  while (std::getline(sockets, line)) {
    std::istringstream fields(line);
    std::string address, references, type, protocol;
    unsigned index = 0, is_running = 0;
    fields >> address >> references >> type >> protocol >> index >> is_running;
    if (is_running != 0 && (wanted == 0 || index == 0 || index == wanted)) ++count;
  }
  return count;
}

class Measuring {
 public:
  Measuring(const LossPlan& plan, const std::function<bool()>& stop, LinkEnd sending, LinkEnd watched)
      : plan_(plan), stop_(stop), sending_(std::move(sending)), watched_(std::move(watched)) {}

  Result<MonitorRun> run() {
    // On a user's interface other programs may capture too; in a namespace of its own there are none.
    const std::size_t others = watched_.space.empty() ? packet_sockets(::getpid(), watched_) : 0;
    auto monitor = Child::start(watched_.there(for_interface(plan_.monitor, watched_.interface)));
    if (!monitor) return monitor.error();
    if (auto error = wait_until_ready(*monitor, others)) return *std::move(error);
    if (!pause(kAfterReady, stop_)) return stopped();
    const auto before = kernel_counters(watched_);
    const auto sent = send();
    if (!sent) return sent.error();
    if (!pause(plan_.settle, stop_)) return stopped();
    const auto after = kernel_counters(watched_);
    if (monitor->poll()) return of_monitor(*monitor, "ended before SIGINT");
    if (auto error = interrupt(*monitor)) return *std::move(error);
    const std::string output = monitor->output();
    const auto counted = plan_.counts.find(output);
    if (!counted) return of_monitor(*monitor, fmt::format("printed no count that matches {}", plan_.counts.text()));
    MonitorRun run{.sent = *sent, .offered = *sent, .counted = *counted};
    if (plan_.drops) run.drops = plan_.drops->find(output);
    if (before && after)
      run.kernel = KernelCounters{.received = after->received - before->received,
                                  .receive_dropped = after->receive_dropped - before->receive_dropped};
    // A veth pair loses packets if the receiving core's backlog is full, before any monitor could see them.
    if (run.kernel && !plan_.watched) run.offered = std::min(run.sent, run.kernel->received);
    return run;
  }

 private:
  static Error stopped() { return Error{"stopped"}; }

  Error of_monitor(const Child& monitor, const std::string& what) const {
    return Error{fmt::format("the monitor ({}) {}; {}", joined(for_interface(plan_.monitor, watched_.interface)), what,
                             monitor.last_words())};
  }

  std::optional<Error> wait_until_ready(Child& monitor, std::size_t others) const {
    const auto is_ready = [&] {
      return plan_.ready ? says(monitor.output(), *plan_.ready) : packet_sockets(monitor.pid(), watched_) > others;
    };
    for (const auto until = Clock::now() + plan_.start_most; Clock::now() < until;) {
      if (const auto end = monitor.poll()) return of_monitor(monitor, end->text() + " before it captured anything");
      if (is_ready()) return std::nullopt;
      if (!pause(kTick, stop_)) return stopped();
    }
    return of_monitor(
        monitor,
        fmt::format(
            "is not ready after {} s: if it has no packet socket, give --ready with its output when it is ready",
            plan_.start_most.count() / 1000));
  }

  Result<std::uint64_t> send() const {
    const auto output =
        run_command(sending_.there(for_interface(plan_.send, sending_.interface)), {}, plan_.send_most, stop_);
    if (!output) return stop_() ? stopped() : output.error();
    const auto report = nlohmann::json::parse(*output, nullptr, /*allow_exceptions=*/false);
    if (!report.is_object() || !report.contains("sent") || !report.at("sent").is_number_unsigned())
      return Error{fmt::format("{} does not report what it sent: {}", joined(plan_.send), *output)};
    const auto sent = report.at("sent").get<std::uint64_t>();
    if (sent == 0) return Error{fmt::format("{} sent nothing: {}", joined(plan_.send), *output)};
    return sent;
  }

  /// Sends SIGINT, like Ctrl-C. A monitor that ends by the signal is accepted if it reported its counts.
  std::optional<Error> interrupt(Child& monitor) const {
    monitor.send(SIGINT);
    const auto end = monitor.wait(plan_.stop_most, stop_);
    if (!end && stop_()) return stopped();
    if (!end)
      return of_monitor(monitor, fmt::format("does not end within {} s of SIGINT", plan_.stop_most.count() / 1000));
    const bool is_fine =
        end->signal == SIGINT || (end->signal == 0 && (end->exit_status == 0 || end->exit_status == kInterrupted));
    if (!is_fine) return of_monitor(monitor, end->text());
    return std::nullopt;
  }

  const LossPlan& plan_;
  const std::function<bool()>& stop_;
  LinkEnd sending_, watched_;
};

}  // namespace

std::chrono::milliseconds longest_sending(const SendRate& rate, std::uint64_t packets) noexcept {
  constexpr double kLongestFrameBits = 8 * 10'000, kSlowestPps = 10'000, kSlowestLine = 1e7,
                   kLongestMs = 7 * 86'400'000.0;
  double pps = kSlowestPps;
  if (rate.unit == SendRate::Unit::packets) pps = rate.value;
  if (rate.unit == SendRate::Unit::line_bits) pps = rate.value / kLongestFrameBits;
  if (rate.unit == SendRate::Unit::line_share) pps = rate.value * kSlowestLine / kLongestFrameBits;
  const double ms = 2e3 * static_cast<double>(packets) / std::max(pps, 1e-3) + 60'000;
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::min(ms, kLongestMs)));
}

Result<MonitorRun> run_loss(const LossPlan& plan, const std::function<bool()>& stop) {
  if (plan.sending && plan.watched) return Measuring(plan, stop, *plan.sending, *plan.watched).run();
  const auto pair = VethPair::make();
  if (!pair) return pair.error();
  return Measuring(plan, stop, pair->sending(), pair->receiving()).run();
}

}  // namespace parshall::tester
