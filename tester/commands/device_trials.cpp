// SPDX-License-Identifier: Apache-2.0
#include "tester/commands/device_trials.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/signals.hpp"
#include "tester/chart/number_text.hpp"
#include "tester/quiet.hpp"

namespace parshall::cli {

Result<tester::TrialResult> DeviceTrials::run(const SendPlan& send) {
  // If it is not quiet in time, the trial may count frames of an earlier one.
  tester::wait_until_quiet(test_.ends().source, {.since_ns = busy_until_ns_, .quiet_ns = settle_ns_}, stop_asked);
  tester::TrialResult trial = tester::run_trial(frames_.trace, frames_.streams, test_.ends(),
                                                {.send = send, .settle_ns = settle_ns_, .book = {}}, stop_asked);
  busy_until_ns_ = trial.receiver->last_trailer_ns();
  if (trial.damage) return *trial.damage;
  if (const auto problem = test_.problem()) return *problem;
  return trial;
}

Result<double> DeviceTrials::ceiling_pps() {
  double most_pps = 0;
  const auto taken = run({.duration_ns = kCeilingNs});
  if (!taken) return taken.error();
  for (int i = 0; i < 3 && !stop_asked(); ++i) {
    const auto paced = run({.rate = kUnreachable, .frames = std::max<std::uint64_t>(taken->sending.sent, 1)});
    if (!paced) return paced.error();
    if (paced->sending_ns == 0) return Error{"no frame could be sent"};
    most_pps =
        std::max(most_pps, static_cast<double>(paced->sending.sent) * 1e9 / static_cast<double>(paced->sending_ns));
  }
  return most_pps;
}

Result<tester::TrialOutcome> DeviceTrials::measure(const tester::TrialInput& input) {
  const auto seed = test_.begin_trial();
  if (!seed) return seed.error();
  const std::uint64_t dropped_before = test_.dropped_in_sending();
  const auto trial = run(trial_plan(input));
  if (!trial) return trial.error();
  tester::TrialOutcome outcome{.load_pps = input.load_pps,
                               .duration_s = input.duration_s,
                               .offered = std::max(trial->sending.taken, tester::due_frames(input)),
                               .sent = trial->sending.sent,
                               .seed = *seed};
  outcome.unsent = outcome.offered - outcome.sent + test_.dropped_in_sending() - dropped_before;
  outcome.host = {.late = trial->lateness_ns->count_above(tester::kLateNs),
                  .latest_ns = trial->lateness_ns->largest().value_or(0),
                  .missed = trial->device[Counter::nic_missed] + trial->device[Counter::no_mbuf],
                  .stolen_ns = trial->stolen_ns};
  const tester::FrameCounts& came = trial->receiver->frames();
  tester::Strays strays{.contradictory = came.contradictory, .corrupted = came.corrupted, .foreign = came.foreign};
  for (std::uint32_t stream = 0; stream < frames_.streams; ++stream) {
    const tester::FlowResult flow = trial->receiver->book().flow(stream, trial->sent[stream].frames);
    outcome.received += flow.received;
    strays.contradictory += flow.contradictory;
  }
  outcome.strays = strays;
  return outcome;
}

std::string DeviceUnderTest::received() const {
  return "frames that come back; duplicates count once, reordered frames count";
}

std::vector<tester::Fact> DeviceUnderTest::phases() const {
  return trial_phases(learn_ns_ == 0 ? "none (deviates)"
                                     : fmt::format("once before the first trial, not before each trial (deviates): "
                                                   "frames of each size until one comes back, for at most {}",
                                                   tester::seconds_text(static_cast<double>(learn_ns_) / 1e9)),
                      settle_ns_,
                      fmt::format("until no frame with a trailer has arrived for {}, at most 10 s (deviates)",
                                  tester::seconds_text(static_cast<double>(settle_ns_) / 1e9)));
}

}  // namespace parshall::cli
