// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/figures/cpu_counters.hpp"
#include "base/figures/estimate.hpp"
#include "base/random.hpp"

namespace parshall::lab {

inline double thread_cpu_ns() noexcept {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

/// Pins the calling thread to the core it is on.
class OnOneCore {
 public:
  OnOneCore() {
    ::sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t core;
    CPU_ZERO(&core);
    const auto here = static_cast<std::size_t>(std::max(0, ::sched_getcpu()));
    CPU_SET(here, &core);
    ::sched_setaffinity(0, sizeof core, &core);
    for (std::size_t other = 0; other < CPU_SETSIZE; ++other)
      if (other != here && CPU_ISSET(other, &before_)) others_.push_back(static_cast<int>(other));
  }
  ~OnOneCore() { ::sched_setaffinity(0, sizeof before_, &before_); }
  OnOneCore(const OnOneCore&) = delete;
  OnOneCore& operator=(const OnOneCore&) = delete;

  std::span<const int> others() const noexcept { return others_; }  ///< other cores that this process may use

 private:
  cpu_set_t before_;
  std::vector<int> others_;
};

/// Code whose cost per packet is measured.
struct Variant {
  std::string name;
  std::function<void(std::size_t packets)> run;
  std::function<void()> observe = {};    ///< called after each sample, outside of the clock
  std::function<bool()> disturbed = {};  ///< returns whether the sample just taken is invalid for a reason of its own
};

struct Cost {
  double median_ns = 0, least_ns = 0, spread = 1;   ///< spread: largest over least of the samples kept
  double low_ns = 0, high_ns = 0;                   ///< 95 % interval of the median, by order statistics
  double ratio = 1, ratio_low = 1, ratio_high = 1;  ///< ratio to the round's first variant: median and interval
  std::size_t kept = 0, samples = 0;
  std::optional<CpuCounts> counts = {};  ///< medians of the samples kept, where the CPU lets this process count
};

/// Measures variants side by side on one shared, noisy machine.
///
/// Thread CPU time leaves out preemption. Variants are interleaved within each round, in random order, so drift and
/// cache leftovers affect all alike. A fixed probe (random read-modify-writes over 1 MB) runs before and after each
/// sample and detects neighbours that use the caches. A sample is dropped if its slower probe took over 1.35 times the
/// best, as long as three samples remain. The median of the rest is reported.
class Harness {
 public:
  /// Lets a variant run `warm_up` packets, untimed, before each sample.
  Harness(std::size_t packets_per_sample, int rounds, std::size_t warm_up = 0)
      : packets_(packets_per_sample), rounds_(rounds), warm_up_(warm_up), probe_memory_(1 << 17) {}

  /// Measures all variants on one core. Returns nothing if `stop` returned true before the last round was done.
  std::vector<Cost> measure(const std::vector<Variant>& variants, const std::function<bool()>& stop = {}) {
    const OnOneCore pinned;
    std::vector<std::vector<Sample>> samples(variants.size());
    std::vector<std::size_t> order(variants.size());
    std::iota(order.begin(), order.end(), 0u);
    SplitMix64 random(1);
    CpuCounters counters;
    for (int i = 0; i < 50; ++i) probe();
    for (int round = 0; round < rounds_; ++round) {
      if (stop && stop()) return {};
      std::shuffle(order.begin(), order.end(), random);
      for (const std::size_t v : order) {
        probe();
        const double before = probe();
        if (warm_up_ != 0) variants[v].run(warm_up_);
        counters.start();
        const double start = thread_cpu_ns();
        variants[v].run(packets_);
        const double cost = (thread_cpu_ns() - start) / static_cast<double>(packets_);
        const auto counts = counters.stop();
        const bool spoilt = variants[v].disturbed && variants[v].disturbed();
        probe();
        samples[v].push_back({cost, std::max(before, probe()), spoilt, counts});
        best_probe_ns_ = std::min(best_probe_ns_, samples[v].back().probe_ns);
        if (variants[v].observe) variants[v].observe();
      }
    }
    std::vector<Cost> costs;
    costs.reserve(samples.size());
    for (const auto& of_variant : samples) {
      costs.push_back(summarize(of_variant));
      compare(of_variant, samples.front(), costs.back());
    }
    return costs;
  }

 private:
  struct Sample {
    double cost_ns, probe_ns;
    bool spoilt;
    std::optional<CpuCounts> counts;
  };
  static constexpr double kDisturbed = 1.35;
  static constexpr int kProbeSteps = 16384;

  double probe() noexcept {
    std::uint32_t x = 1;
    const double start = thread_cpu_ns();
    for (int i = 0; i < kProbeSteps; ++i) {
      x = x * 1664525u + 1013904223u;
      ++probe_memory_[x >> 15];
    }
    return (thread_cpu_ns() - start) / kProbeSteps;
  }

  Cost summarize(const std::vector<Sample>& samples) const {
    std::vector<double> kept;
    for (const Sample& sample : samples)
      if (!disturbed(sample)) kept.push_back(sample.cost_ns);
    const std::size_t undisturbed = kept.size();
    const bool all = undisturbed < 3;
    if (all) {
      kept.clear();
      for (const Sample& sample : samples) kept.push_back(sample.cost_ns);
    }
    const Estimate cost = estimate(kept);
    const auto [least, most] = std::ranges::minmax(kept);
    return {.median_ns = cost.median,
            .least_ns = least,
            .spread = most / least,
            .low_ns = cost.low,
            .high_ns = cost.high,
            .kept = undisturbed,
            .samples = samples.size(),
            .counts = counts_of(samples, all)};
  }

  std::optional<CpuCounts> counts_of(const std::vector<Sample>& samples, bool all) const {
    std::vector<double> instructions, misses;
    for (const Sample& sample : samples) {
      if (!sample.counts || (!all && disturbed(sample))) continue;
      instructions.push_back(sample.counts->instructions_per_cycle);
      misses.push_back(sample.counts->cache_miss_share);
    }
    if (instructions.empty()) return std::nullopt;
    return CpuCounts{estimate(std::move(instructions)).median, estimate(std::move(misses)).median};
  }

  /// Compares round by round, so that a disturbance of a whole round cancels out.
  void compare(const std::vector<Sample>& samples, const std::vector<Sample>& first, Cost& cost) const {
    std::vector<double> ratios, undisturbed;
    for (std::size_t round = 0; round < samples.size(); ++round) {
      ratios.push_back(samples[round].cost_ns / first[round].cost_ns);
      if (!disturbed(samples[round]) && !disturbed(first[round])) undisturbed.push_back(ratios.back());
    }
    if (undisturbed.size() >= 3) ratios = std::move(undisturbed);
    const Estimate ratio = estimate(std::move(ratios));
    cost.ratio = ratio.median;
    cost.ratio_low = ratio.low;
    cost.ratio_high = ratio.high;
  }

  bool disturbed(const Sample& sample) const noexcept {
    return sample.spoilt || sample.probe_ns > kDisturbed * best_probe_ns_;
  }

  std::size_t packets_;
  int rounds_;
  std::size_t warm_up_;
  std::vector<std::uint64_t> probe_memory_;
  double best_probe_ns_ = 1e9;
};

}  // namespace parshall::lab
