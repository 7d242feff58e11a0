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
#include "control/overload_policy.hpp"
#include "lab/adaptive/scenarios.hpp"
#include "traffic/pace.hpp"
#include "traffic/traffic.hpp"

namespace parshall::lab {

struct AdaptiveSweep {
  static constexpr std::size_t kSlots = std::size_t{1} << 19;

  std::vector<const AdaptiveScenario*> scenarios;
  std::vector<const StateConfig*> configs;
  std::vector<const OverloadPolicyEntry*> modes;
  std::vector<std::uint64_t> queues{4096};  ///< capacities of the queue in packets
  std::vector<std::size_t> slots{kSlots};   ///< capacities of the table in flows; the truth's table has room for all
  std::vector<double> loads;                ///< replaces the scenarios' own loads unless empty
  std::vector<double> rates_pps;            ///< replaces loads unless empty
  std::uint64_t flows = 250'000, trace_packets = 1 << 23;
  double seconds = 3, threshold = 0.75, resend_share = 0.005;
  double warm_up_s = 1;         ///< part of these in which costs are still being learnt; only losses are judged
  std::uint64_t stretches = 0;  ///< half-second stretches, spread over the run, that are judged instead of all of it;
                                ///< at most one a second. The truth has only half a second of history there
  int rounds = 1;               ///< each with traffic of its own
  std::uint64_t seed = 1;
};

/// Events that a task found in a run, compared with those found in the same packets without time limit.
struct TaskAccuracy {
  std::string name;
  std::uint64_t windows = 0;                 ///< windows of 10 ms
  std::uint64_t satisfied = 0;               ///< windows whose recall and precision reach the threshold
  std::uint64_t satisfied_by_count = 0;      ///< windows in which the recall of each event reaches it
  std::uint64_t recalled = 0;                ///< windows whose recall reaches it, as in the paper
  double recall = 1, precision = 1, f1 = 1;  ///< over the whole run
  std::uint64_t told = 0;                    ///< windows with a known bound; without any report it is 1
  std::uint64_t held = 0;                    ///< part of these whose bound held
  double mean_error = 0, worst_error = 0;    ///< relative error of estimated recall, in windows with 20 events or more
  std::uint64_t judged = 0;                  ///< number of such windows
  double missing_share = 0;                  ///< mean share of a window's flows that were not inspected all the time
  std::optional<double> variation;           ///< deviation over mean of events per flow, in ten windows
};

struct AdaptiveRow {
  const AdaptiveScenario* scenario;
  const StateConfig* config;
  const OverloadPolicyEntry* mode;
  std::uint64_t queue;
  std::size_t slots;           ///< capacity of the table in flows
  double flood;                ///< share of the packets
  std::uint32_t filter_bytes;  ///< 0: no flood filter
  double load, mpps;           ///< the highest rate: relative to load 1, without a flood; and absolute
  std::uint64_t kept_out = 0;  ///< packets kept out by the flood filter
  std::uint64_t offered = 0, missed = 0;
  std::uint64_t lossy_windows = 0, longest_loss = 0;  ///< windows of 10 ms with losses, and the most in succession
  double missed_later_share = 0;                      ///< share of packets after the warm-up
  std::optional<double> skew_at_loss;                 ///< lab::skew_at_loss after the warm-up; unset: constant skew
  double reduced_share = 0;                           ///< share of time in which tasks left out flows
  double overhead_share = 0, longest_us = 0, factor = 1, left_out_share = 0;  ///< as in AdaptationSummary and
                                                                              ///< WorkClock
  double memory_growth = 0;       ///< growth of resident memory after the first tenth of the run
  std::uint64_t events_lost = 0;  ///< events lost for want of room on their way here: recall is then understated
  std::vector<TaskAccuracy> tasks;
};

/// Runs each scenario in each mode with one worker in its own time (WorkClock). Compares the events that tasks found
/// with those found when the same packets wait for them, without a flood filter.
///
/// Error:  processor time is used as time, so other programs have no influence, except on caches.
Result<std::size_t> measure_adaptive(const AdaptiveSweep& sweep,
                                     const std::function<void(std::span<const AdaptiveRow>)>& done,
                                     const std::function<bool()>& stop);

}  // namespace parshall::lab
