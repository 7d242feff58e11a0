// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

namespace parshall {

/// Models the share of its events that a task still finds if a share p of all packets is lost at random: (1 - p)^e. An
/// event that needs two packets of its flow has e = 2; for a flow with many such pairs one is enough, so e is learnt.
/// It is learnt by comparing the events per packet in windows with losses to those in earlier windows without.
///
/// Error:  assumes a constant number of events per packet in the traffic.
class BlindLoss {
 public:
  static constexpr double kUnknown = 1.2;  ///< e of tasks without data

  explicit BlindLoss(double exponent = kUnknown) noexcept : exponent_(exponent) {}

  /// Adds a window. `events` includes the estimated ones of reduced flows. `packets` came, and `lost` were lost.
  void add_window(double events, std::uint64_t packets, std::uint64_t lost) noexcept {
    if (!(events >= 0) || packets == 0) return;
    const double offered = static_cast<double>(packets) + static_cast<double>(lost);
    const double density = events / offered, share = static_cast<double>(lost) / offered;
    if (share < kNone) {
      density_ = windows_ == 0 ? density : density_ + kLearning * (density - density_);
      windows_ = std::min(windows_ + 1, kKnown);
    } else if (share > kMuch && share < 1 && windows_ == kKnown && events >= kFewest && density_ > 0) {
      const double seen = std::log(density / density_) / std::log(1 - share);
      exponent_ += kLearning * (std::clamp(seen, 0.0, kMost) - exponent_);
    }
  }

  double exponent() const noexcept { return exponent_; }

  static double recall(double exponent, double lost_share) noexcept { return std::pow(1 - lost_share, exponent); }

 private:
  static constexpr double kNone = 0.01, kMuch = 0.04, kFewest = 10, kMost = 4, kLearning = 0.05;
  static constexpr int kKnown = 20;  ///< windows without losses

  double exponent_, density_ = 0;
  int windows_ = 0;
};

}  // namespace parshall
