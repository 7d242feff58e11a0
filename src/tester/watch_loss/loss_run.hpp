// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "generate/send_schedule.hpp"
#include "tester/watch_loss/monitor_command.hpp"
#include "tester/watch_loss/veth_pair.hpp"

namespace parshall::tester {

/// How a monitor's loss is measured.
struct LossPlan {
  std::vector<std::string> monitor;         ///< with {interface}
  CountPattern counts;                      ///< of the packets that it saw
  std::optional<CountPattern> drops;        ///< of those that it says it lost
  std::optional<std::regex> ready;          ///< in its output; nothing: a packet socket on its interface
  std::vector<std::string> send;            ///< with {interface}; writes what `parshall send --format json` does
  std::optional<LinkEnd> sending, watched;  ///< both, or none: a veth pair for each run
  std::chrono::milliseconds settle{1'500};  ///< after the last packet: libpcap may keep some back for a second
  std::chrono::milliseconds start_most{15'000}, send_most{600'000}, stop_most{15'000};
};

/// For so many packets at that rate: twice what the slowest takes, and a minute. Who still sends then hangs.
std::chrono::milliseconds longest_sending(const SendRate& rate, std::uint64_t packets) noexcept;

/// What one run showed.
struct MonitorRun {
  std::uint64_t sent = 0;
  std::optional<KernelCounters> kernel;  ///< of the watched interface, while packets were sent
  std::uint64_t offered = 0;             ///< what the monitor could have seen
  std::uint64_t counted = 0;
  std::optional<std::uint64_t> drops;  ///< by the monitor's own word

  std::uint64_t lost() const noexcept { return offered > counted ? offered - counted : 0; }
  /// Other traffic came too, or both directions were counted: that may stand for packets which were lost.
  bool is_mixed() const noexcept { return counted > offered || (kernel && kernel->received > sent); }
  /// lost / offered; nothing where it is mixed.
  std::optional<double> loss() const noexcept {
    if (is_mixed()) return std::nullopt;
    return offered == 0 ? 0 : static_cast<double>(lost()) / static_cast<double>(offered);
  }
};

/// Starts the monitor, waits until it captures, sends, waits, interrupts it and compares. An error where the monitor
/// fails, hangs or does not say how many packets it saw, or where `stop` says so.
Result<MonitorRun> run_loss(const LossPlan& plan, const std::function<bool()>& stop);

}  // namespace parshall::tester
