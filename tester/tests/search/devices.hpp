// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <functional>
#include <utility>

#include "base/random.hpp"
#include "tester/search/search.hpp"

namespace parshall::tester {

/// The loss ratio of a trial. It may draw random numbers.
using Device = std::function<double(const TrialInput& trial, SplitMix64& random)>;

/// Loses nothing up to its rate, and all above it.
inline Device hard_knee(double rate_pps) {
  return [=](const TrialInput& trial, SplitMix64&) {
    return trial.load_pps <= rate_pps ? 0 : 1 - rate_pps / trial.load_pps;
  };
}

/// Loses a little long before it loses much: `steepness` is the exponent of load over rate, at which it loses half.
inline Device smooth(double rate_pps, double steepness) {
  return [=](const TrialInput& trial, SplitMix64&) { return 1 / (1 + std::pow(rate_pps / trial.load_pps, steepness)); };
}

/// As a hard knee, but every second with some probability loses some of what is sent in it.
inline Device noisy_knee(double rate_pps, double burst_probability, double burst_loss) {
  return [=](const TrialInput& trial, SplitMix64& random) {
    const double clean = trial.load_pps <= rate_pps ? 0 : 1 - rate_pps / trial.load_pps;
    double lossy_s = 0;
    for (double second = 0; second < trial.duration_s; ++second) {
      if (random.uniform() < burst_probability) lossy_s += std::min(1.0, trial.duration_s - second);
    }
    return clean + (1 - clean) * burst_loss * lossy_s / trial.duration_s;
  };
}

/// Loses at loads from `from_pps` to `to_pps`, not above, up to its rate.
inline Device with_inversion(double from_pps, double to_pps, double rate_pps) {
  return [=, knee = hard_knee(rate_pps)](const TrialInput& trial, SplitMix64& random) {
    return trial.load_pps >= from_pps && trial.load_pps <= to_pps ? 0.02 : knee(trial, random);
  };
}

/// Sustains one rate as long as a buffer lasts, and a lower one from there.
inline Device with_buffer(double rate_pps, double buffer_frames, double line_pps) {
  return [=](const TrialInput& trial, SplitMix64&) {
    const double held = rate_pps * trial.duration_s + buffer_frames, sent = trial.load_pps * trial.duration_s;
    return 1 - std::min({1.0, held / sent, line_pps / trial.load_pps});
  };
}

inline TrialOutcome trial_of(const TrialInput& trial, double loss_ratio) {
  const auto frames = static_cast<std::uint64_t>(std::llround(trial.load_pps * trial.duration_s));
  const auto lost = static_cast<std::uint64_t>(std::ceil(loss_ratio * static_cast<double>(frames) - 1e-6));
  return {.load_pps = trial.load_pps,
          .duration_s = trial.duration_s,
          .offered = frames,
          .sent = frames,
          .received = frames - std::min(frames, lost)};
}

/// As a driver does it.
inline SearchResult run(Search& search, const Device& device, std::uint64_t seed = 1) {
  SplitMix64 random(seed);
  while (const auto trial = search.next()) {
    if (search.add(trial_of(*trial, device(*trial, random)))) std::abort();
  }
  return search.result();
}

}  // namespace parshall::tester
