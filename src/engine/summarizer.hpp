// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/analyst.hpp"
#include "engine/worker.hpp"
#include "pipeline/output/report.hpp"

namespace parshall {

struct Input;
struct SessionOptions;

/// Says of a run what a report says but for its flows. All that it is made of outlives it.
class Summarizer {
 public:
  /// The run begins. `analyst` may be null.
  Summarizer(const Input& input, const SessionOptions& options, const StatisticSet& statistics, const Workers& workers,
             const Analyst* analyst);

  /// Counts the reports. `counts` are of the workers, of the same moment; `collected` of the collector.
  ReportSummary summarize(std::span<const MonitorCounts> counts, const Counters& collected, bool final);

  /// Packet time between the last two reports; 0: there was one.
  double interval_s() const noexcept { return interval_s_; }
  std::uint64_t reports() const noexcept { return reports_; }

 private:
  using Clock = std::chrono::steady_clock;

  double ns_per_cycle() const;  ///< of the time stamp counter
  void explain(ReportSummary& summary) const;
  AdaptationSummary adaptation() const;
  ForwardingSummary forwarding() const;
  void account(ReportSummary& summary, std::span<const MonitorCounts> counts, const Counters& collected);
  void tell_workers_behind(std::span<const MonitorCounts> counts, ReportSummary& summary);
  void tell_states(ReportSummary& summary) const;
  void tell_tasks(ReportSummary& summary) const;

  const Input& input_;
  const SessionOptions& options_;
  const Workers& workers_;
  const Analyst* analyst_;
  std::vector<std::string> class_names_;  ///< with that of flows that are unknown, and of those with too few packets
  std::vector<BusyClock::Ticks> busy_before_, monitor_busy_before_;
  Clock::time_point began_;
  std::uint64_t began_cycles_;
  std::uint64_t reports_ = 0, last_report_ns_ = 0;
  double interval_s_ = 0;
};

}  // namespace parshall
