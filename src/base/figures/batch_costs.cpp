// SPDX-License-Identifier: Apache-2.0
#include "base/figures/batch_costs.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "base/clock.hpp"

namespace parshall::lab {

std::uint64_t cycles_now() noexcept { return cpu_ticks_after(); }

double cycles_per_ns() {
  static const double rate = [] {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    const std::uint64_t first = cycles_now();
    while (Clock::now() - start < std::chrono::milliseconds(20)) {
    }
    const std::uint64_t last = cycles_now();
    return static_cast<double>(last - first) / std::chrono::duration<double, std::nano>(Clock::now() - start).count();
  }();
  return rate;
}

void BatchCosts::add(std::uint64_t cycles, std::size_t packets) noexcept {
  ++buckets_[std::min<std::uint64_t>(cycles / (packets * kCyclesPerBucket), kBuckets - 1)];
  ++batches_;
}

double BatchCosts::quantile(double of) const noexcept {
  if (batches_ == 0) return 0;
  const auto wanted = static_cast<std::uint64_t>(of * static_cast<double>(batches_ - 1)) + 1;
  std::uint64_t below = 0;
  std::size_t bucket = 0;
  while (bucket + 1 < kBuckets && (below += buckets_[bucket]) < wanted) ++bucket;
  return static_cast<double>((bucket + 1) * kCyclesPerBucket);
}

void BatchRounds::add_round(std::span<const std::uint32_t> batch_cycles) {
  if (batch_cycles.empty()) return;
  BatchCosts costs;
  for (const std::uint32_t cycles : batch_cycles) costs.add(cycles, batch_);
  p50_.push_back(costs.quantile(0.5));
  p99_.push_back(costs.quantile(0.99));
  p999_.push_back(costs.quantile(0.999));
  lossless_mpps_.push_back(lossless_rate(batch_cycles, batch_, load_.queue_packets) * cycles_per_ns() * 1e3);
  const double rate = load_.mpps / (cycles_per_ns() * 1e3);
  offered_ += rate * std::accumulate(batch_cycles.begin(), batch_cycles.end(), 0.0);
  lost_ += lost_packets(batch_cycles, batch_, load_.queue_packets, rate, waiting_);
}

BatchFigures BatchRounds::figures() const {
  return {.p50_cycles = estimate(p50_),
          .p99_cycles = estimate(p99_),
          .p999_cycles = estimate(p999_),
          .lossless_mpps = estimate(lossless_mpps_),
          .modelled_loss = offered_ == 0 ? 0 : lost_ / offered_,
          .rounds = p50_.size()};
}

double lossless_rate(std::span<const std::uint32_t> batch_cycles, std::size_t batch, std::size_t queue) noexcept {
  if (batch_cycles.empty()) return 0;
  const auto served = static_cast<double>(batch), room = static_cast<double>(queue);
  const auto overflows = [&](double rate) {
    double waiting = 0;
    for (const std::uint32_t cycles : batch_cycles) {
      waiting += rate * static_cast<double>(cycles);
      if (waiting > room) return true;
      waiting = std::max(0.0, waiting - served);
    }
    return false;
  };
  const std::uint32_t least = std::max(1u, *std::ranges::min_element(batch_cycles));  // 0 with arm64's slow counters
  double low = 0, high = served / static_cast<double>(least) + room;
  for (int i = 0; i < 60; ++i) {
    const double rate = (low + high) / 2;
    (overflows(rate) ? high : low) = rate;
  }
  // The search found no overflow, but a queue that only fills admits more than can be served.
  const double cycles = std::max(1.0, std::accumulate(batch_cycles.begin(), batch_cycles.end(), 0.0));
  return std::min(low, served * static_cast<double>(batch_cycles.size()) / cycles);
}

double lost_packets(std::span<const std::uint32_t> batch_cycles, std::size_t batch, std::size_t queue, double rate,
                    double& waiting) noexcept {
  const auto served = static_cast<double>(batch), room = static_cast<double>(queue);
  double lost = 0;
  for (const std::uint32_t cycles : batch_cycles) {
    waiting += rate * static_cast<double>(cycles);
    lost += std::max(0.0, waiting - room);
    waiting = std::max(0.0, std::min(waiting, room) - served);
  }
  return lost;
}

}  // namespace parshall::lab
