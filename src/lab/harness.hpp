// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/core.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace parshall::bench {

inline double thread_cpu_ns() noexcept {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

/// Something whose cost per packet is asked.
struct Variant {
  std::string name;
  std::function<void(std::size_t packets)> run;
};

struct Cost {
  double median_ns = 0, least_ns = 0, spread = 1;  ///< spread: largest over least of the samples kept
  std::size_t kept = 0, samples = 0;
};

/// Measures variants side by side on one shared, noisy machine.
///
/// Thread CPU time leaves out preemption; variants are interleaved within each round, so that drift meets all alike; a
/// fixed probe (random read-modify-writes over 1 MB) before and after each sample tells when a neighbour had the
/// caches: samples whose probe was over 1.35 times the best are dropped, where at least three remain. The median of the
/// rest is reported.
class Harness {
 public:
  Harness(std::size_t packets_per_sample, int rounds)
      : packets_(packets_per_sample), rounds_(rounds), probe_memory_(1 << 17) {}

  std::vector<Cost> measure(const std::vector<Variant>& variants) {
    std::vector<std::vector<Sample>> samples(variants.size());
    for (int i = 0; i < 50; ++i) probe();
    for (int round = 0; round < rounds_; ++round)
      for (std::size_t v = 0; v < variants.size(); ++v) {
        probe();
        const double before = probe();
        const double start = thread_cpu_ns();
        variants[v].run(packets_);
        const double cost = (thread_cpu_ns() - start) / static_cast<double>(packets_);
        probe();
        samples[v].push_back({cost, std::max(before, probe())});
      }
    std::vector<Cost> costs;
    for (const auto& of_variant : samples) costs.push_back(summarize(of_variant));
    return costs;
  }

 private:
  struct Sample {
    double cost_ns, probe_ns;
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
    const double cost = (thread_cpu_ns() - start) / kProbeSteps;
    best_probe_ns_ = std::min(best_probe_ns_, cost);
    return cost;
  }

  Cost summarize(const std::vector<Sample>& samples) const {
    std::vector<double> kept;
    for (const Sample& sample : samples)
      if (sample.probe_ns <= kDisturbed * best_probe_ns_) kept.push_back(sample.cost_ns);
    const std::size_t undisturbed = kept.size();
    if (undisturbed < 3) {
      kept.clear();
      for (const Sample& sample : samples) kept.push_back(sample.cost_ns);
    }
    std::sort(kept.begin(), kept.end());
    return {kept[kept.size() / 2], kept.front(), kept.back() / kept.front(), undisturbed, samples.size()};
  }

  std::size_t packets_;
  int rounds_;
  std::vector<std::uint64_t> probe_memory_;
  double best_probe_ns_ = 1e9;
};

}  // namespace parshall::bench
