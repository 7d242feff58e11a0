// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "generate/pace.hpp"
#include "generate/traffic.hpp"
#include "lab/adaptive_scenarios.hpp"

namespace parshall::lab {

struct AdaptiveSweep {
  static constexpr std::size_t kSlots = std::size_t{1} << 19;

  std::vector<const AdaptiveScenario*> scenarios;
  std::vector<const StateConfig*> configs;
  std::vector<const AdaptiveMode*> modes;
  std::vector<std::uint64_t> queues{4096};  ///< packets that wait at most
  std::vector<std::size_t> slots{kSlots};   ///< flows that the table has room for; the truth's has it for all
  std::vector<double> loads;                ///< in place of the scenarios' own; none: those
  std::uint64_t flows = 250'000, trace_packets = 1 << 23;
  double seconds = 3, threshold = 0.75, resend_share = 0.005;
  double warm_up_s = 1;         ///< of these: what costs are is not known yet, and nothing is judged but what is lost
  std::uint64_t stretches = 0;  ///< of half a second each, spread over the run, that are judged in place of all of it;
                                ///< at most one a second. The truth has a past of half a second there, and no more
  int rounds = 1;               ///< each with traffic of its own
  std::uint64_t seed = 1;
};

/// What a task found in a run, of what the same packets show to who has time for all.
struct TaskAccuracy {
  std::string name;
  std::uint64_t windows = 0;                 ///< of 10 ms
  std::uint64_t satisfied = 0;               ///< with a recall and a precision of the threshold at least
  std::uint64_t recalled = 0;                ///< with such a recall, whatever was invented beside: as in the paper
  double recall = 1, precision = 1, f1 = 1;  ///< of the whole run
  std::uint64_t told = 0;                    ///< windows of which a bound is known; of no word it is 1
  std::uint64_t held = 0;                    ///< of these: it was right
  double mean_error = 0, worst_error = 0;  ///< of the estimate, of the true recall, in windows with 20 events at least
  std::uint64_t judged = 0;                ///< windows in these
  double missing_share = 0;                ///< flows that it did not look at all the time, of a window's, on average
  std::optional<double> variation;         ///< of events a flow in ten windows in a row: deviation of the mean
};

struct AdaptiveRow {
  const AdaptiveScenario* scenario;
  const StateConfig* config;
  const AdaptiveMode* mode;
  std::uint64_t queue;
  std::size_t slots;           ///< flows that the table has room for
  double flood;                ///< share of the packets
  std::uint32_t filter_bytes;  ///< 0: no flood filter
  double load, mpps;           ///< the highest rate: of load 1, without a flood; and as it is
  std::uint64_t kept_out = 0;  ///< by the flood filter
  std::uint64_t shed = 0;      ///< for want of time
  std::uint64_t one_in = 1;    ///< then one connection of so many was looked at, or more
  std::uint64_t offered = 0, missed = 0;
  std::uint64_t lossy_windows = 0, longest_loss = 0;  ///< of 10 ms; in a row
  double missed_later_share = 0;                      ///< after the warm-up, of what came then
  std::optional<double> skew_at_loss;                 ///< lab::skew_at_loss, after the warm-up; the skew stays: nothing
  double shifted_share = 0;                           ///< of the time, in which flows gave way
  double overhead_share = 0, longest_us = 0, residual = 0, left_out_share = 0;  ///< AdaptationSummary's; WorkClock's
  double memory_growth = 0;       ///< resident memory at the run's end, of what it was after a tenth of it, less 1
  std::uint64_t events_lost = 0;  ///< for want of room on their way here: then recall is more than is told
  std::vector<TaskAccuracy> tasks;
};

/// Runs each scenario in each way, one worker in its own time (WorkClock), and compares what tasks found with what
/// they find when the same packets wait for them, without a flood filter.
///
/// Error: processor time stands for time: whatever else the machine does is left out, but for what it does to caches.
Result<std::size_t> measure_adaptive(const AdaptiveSweep& sweep,
                                     const std::function<void(std::span<const AdaptiveRow>)>& done,
                                     const std::function<bool()>& stop);

}  // namespace parshall::lab
