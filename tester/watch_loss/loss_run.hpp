// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tester/watch_loss/monitor_command.hpp"
#include "tester/watch_loss/veth_pair.hpp"
#include "traffic/send_schedule.hpp"

namespace parshall::tester {

/// Measurement of a monitor's loss.
struct LossPlan {
  std::vector<std::string> monitor;         ///< command, with {interface}
  CountPattern counts;                      ///< finds the packets it saw
  std::optional<CountPattern> drops;        ///< finds the packets it reports as lost
  std::optional<std::regex> ready;          ///< pattern in its output; unset: a packet socket on its interface
  std::vector<std::string> send;            ///< with {interface}; prints what `parshall send --format json` does
  std::optional<LinkEnd> sending, watched;  ///< both or none; none: a veth pair for each run
  std::chrono::milliseconds settle{1'500};  ///< wait after the last packet: libpcap may hold packets back for a second
  std::chrono::milliseconds start_most{15'000}, send_most{600'000}, stop_most{15'000};
};

/// Returns a time limit for sending this many packets at that rate: twice the longest time it can take, plus a minute.
/// A sender that takes longer hangs.
std::chrono::milliseconds longest_sending(const SendRate& rate, std::uint64_t packets) noexcept;

/// Results of one run.
struct MonitorRun {
  std::uint64_t sent = 0;
  std::optional<KernelCounters> kernel;  ///< counters of the watched interface during sending
  std::uint64_t offered = 0;             ///< packets that the monitor could have seen
  std::uint64_t counted = 0;
  std::optional<std::uint64_t> drops;  ///< as the monitor reports

  std::uint64_t lost() const noexcept { return offered > counted ? offered - counted : 0; }
  /// Returns true if other traffic came too, or both directions were counted: that may hide lost packets.
  bool is_mixed() const noexcept { return counted > offered || (kernel && kernel->received > sent); }
  /// Returns lost / offered; nullopt if other traffic came too.
  std::optional<double> loss() const noexcept {
    if (is_mixed()) return std::nullopt;
    return offered == 0 ? 0 : static_cast<double>(lost()) / static_cast<double>(offered);
  }
};

/// Starts the monitor, waits until it captures, sends, waits, interrupts it and compares. Error: the monitor fails,
/// hangs or reports no packet count, or `stop` returned true.
Result<MonitorRun> run_loss(const LossPlan& plan, const std::function<bool()>& stop);

}  // namespace parshall::tester
