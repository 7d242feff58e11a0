// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <chrono>
#include <span>
#include <utility>
#include <vector>

#include "base/figures/estimate.hpp"
#include "base/figures/harness.hpp"
#include "lab/cores/co_runners.hpp"

namespace parshall::lab {

/// Other cores that run while samples are taken on this one. Checks that they had their cores.
class Company {
 public:
  /// Takes works for the other cores. Without any, no sample is ever disturbed.
  Company(std::span<const int> cores, std::vector<CoRunners::Work> works) : others_(cores, std::move(works)) {}

  /// Does `work`, a part of a sample. The others start at the first part, which is a warm-up, and stop at disturbed(),
  /// so that waiting for them is not part of the cost.
  template <class Work>
  void take_part(Work work) {
    using Clock = std::chrono::steady_clock;
    if (others_.size() == 0) return work();
    if (!running_) others_.start();
    running_ = true;
    const auto start = Clock::now();
    const double before = thread_cpu_ns() + others_.cpu_ns();
    work();
    const double ran = thread_cpu_ns() + others_.cpu_ns() - before;
    const double passed = std::chrono::duration<double, std::nano>(Clock::now() - start).count();
    last_ = std::clamp(ran / passed - static_cast<double>(others_.size()), 0.0, 1.0);
  }

  /// Ends a sample; returns true if this core and the others did not all run throughout its last part.
  bool disturbed() {
    constexpr double kTogether = 0.95;
    if (!running_) return false;
    others_.stop();
    running_ = false;
    together_.push_back(last_);
    return last_ < kTogether;
  }

  /// Does `work` beside the others, between samples.
  template <class Work>
  void beside(Work work) {
    if (others_.size() != 0) others_.start();
    work();
    if (others_.size() != 0) others_.stop();
  }

  /// Returns the median, over the samples, of the share of time in which all ran; 1 without samples.
  double together() const { return together_.empty() ? 1 : estimate(together_).median; }

 private:
  CoRunners others_;
  bool running_ = false;
  double last_ = 1;  ///< share of the last part
  std::vector<double> together_;
};

}  // namespace parshall::lab
