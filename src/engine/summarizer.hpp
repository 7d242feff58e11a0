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
#include "pipeline/output/text/report.hpp"

namespace parshall {

struct Input;
struct SessionOptions;

/// Makes all parts of a report except its flows. Its constructor arguments must outlive it.
class Summarizer {
 public:
  /// Begins with the run. `analyst` may be null.
  Summarizer(const Input& input, const SessionOptions& options, const StatisticSet& statistics, const Workers& workers,
             const Analyst* analyst);

  /// Makes a summary and counts it as a report. `counts` are the workers', taken at one moment; `collected` the
  /// collector's.
  ReportSummary summarize(std::span<const StageCounts> counts, const Counters& collected, bool final);

  /// Returns the packet time between the last two reports; 0 before the second.
  double interval_s() const noexcept { return interval_s_; }
  std::uint64_t reports() const noexcept { return reports_; }

 private:
  using Clock = std::chrono::steady_clock;

  double ns_per_cycle() const;  ///< length of a cycle of the time stamp counter
  void explain(ReportSummary& summary) const;
  AdaptationSummary adaptation() const;
  ForwardingSummary forwarding() const;
  void account(ReportSummary& summary, std::span<const StageCounts> counts, const Counters& collected);
  void tell_workers_behind(std::span<const StageCounts> counts, ReportSummary& summary);
  void tell_states(ReportSummary& summary) const;
  void tell_tasks(ReportSummary& summary) const;

  const Input& input_;
  const SessionOptions& options_;
  const Workers& workers_;
  const Analyst* analyst_;
  bool reads_names_ = false;
  std::vector<std::string> class_names_;  ///< includes names for unknown flows and for those with too few packets
  std::vector<BusyClock::Ticks> busy_before_, stage_busy_before_;
  Clock::time_point began_;
  std::uint64_t began_cycles_;
  std::uint64_t reports_ = 0, last_report_ns_ = 0;
  double interval_s_ = 0;
};

}  // namespace parshall
