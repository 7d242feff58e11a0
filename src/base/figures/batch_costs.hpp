// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/figures/estimate.hpp"

namespace parshall::lab {

/// Reads the time stamp counter, in cycles. cycles_per_ns() converts.
std::uint64_t cycles_now() noexcept;
double cycles_per_ns();

/// Histogram of what batches of packets cost.
///
/// Shape:  cycles per packet of a batch, in buckets of two cycles; the last bucket holds all above 16 Ki.
/// Error:  a quantile is up to two cycles too high.
/// Source: Zhang et al., "FloWatcher-DPDK", IEEE TNSM 2019, section V; Alipourfard et al., SOSR 2018, section 3.1.
class BatchCosts {
 public:
  BatchCosts() : buckets_(kBuckets) {}

  void add(std::uint64_t cycles, std::size_t packets) noexcept;
  std::uint64_t batches() const noexcept { return batches_; }

  /// Returns the cycles per packet that the fraction `of` of the batches does not exceed; 0 without batches.
  double quantile(double of) const noexcept;

 private:
  static constexpr std::size_t kBuckets = 8192;
  static constexpr std::uint64_t kCyclesPerBucket = 2;
  std::vector<std::uint64_t> buckets_;
  std::uint64_t batches_ = 0;
};

/// Queue in front of a worker, and the load offered to it.
struct OfferedLoad {
  std::size_t queue_packets = 4096;
  double mpps = 14.88;  ///< 10 GbE of 64-byte frames
};

/// Batch costs: medians over rounds, with their intervals.
struct BatchFigures {
  Estimate p50_cycles, p99_cycles, p999_cycles;  ///< per packet of a batch, as BatchCosts has them
  Estimate lossless_mpps;                        ///< through the queue
  double modelled_loss = 0;  ///< fraction of the packets offered that the modelled queue drops, over all rounds
  std::size_t rounds = 0;    ///< 0: no whole batch was measured
};

/// Times batches one by one, in rounds.
class BatchRounds {
 public:
  BatchRounds(std::size_t batch, const OfferedLoad& load) : batch_(batch), load_(load) {}

  /// Measures one round of at least `packets` packets. `play(most)` processes one batch of at most `most` packets and
  /// returns its size.
  template <class Play>
  void measure(std::size_t packets, Play play) {
    std::vector<std::uint32_t> cycles;
    for (std::size_t played = 0; played < packets;) {
      const std::uint64_t start = cycles_now();
      const std::size_t count = play(packets);
      const std::uint64_t passed = cycles_now() - start;
      played += count;
      if (count == batch_) cycles.push_back(static_cast<std::uint32_t>(std::min<std::uint64_t>(passed, ~0u)));
    }
    add_round(cycles);
  }

  /// Adds a round, given the cycles of each of its whole batches.
  void add_round(std::span<const std::uint32_t> batch_cycles);

  BatchFigures figures() const;

 private:
  std::size_t batch_;
  OfferedLoad load_;
  std::vector<double> p50_, p99_, p999_, lossless_mpps_;
  double waiting_ = 0, lost_ = 0, offered_ = 0;  ///< packets; a round begins with the queue that the last one left
};

/// Returns the highest rate, in packets per cycle, at which a queue of `queue` packets never overflows. Packets arrive
/// evenly. They are taken `batch` at a time, and the batches cost the given cycles one after the other. The result is
/// at most what the batches can take on average; 0 without batches. Source: Lindley's recursion.
double lossless_rate(std::span<const std::uint32_t> batch_cycles, std::size_t batch, std::size_t queue) noexcept;

/// Returns how many packets find such a queue full when they arrive evenly at `rate` packets per cycle. `waiting` is
/// the queue's length before the call, and is updated. Source: Lindley's recursion.
double lost_packets(std::span<const std::uint32_t> batch_cycles, std::size_t batch, std::size_t queue, double rate,
                    double& waiting) noexcept;

}  // namespace parshall::lab
