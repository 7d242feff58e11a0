// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace parshall::lab {

/// Cycles of the time stamp counter; per nanosecond, see cycles_per_ns().
std::uint64_t cycles_now() noexcept;
double cycles_per_ns();

/// What batches of packets cost, and what follows for a queue in front of them.
///
/// Shape:  a histogram of cycles per packet of a batch, in buckets of two cycles; the last one holds all above 16 Ki.
/// Error:  a quantile is up to two cycles too high.
/// Source: Zhang et al., "FloWatcher-DPDK", IEEE TNSM 2019, section V; Alipourfard et al., SOSR 2018, section 3.1.
class BatchCosts {
 public:
  BatchCosts() : buckets_(kBuckets) {}

  void add(std::uint64_t cycles, std::size_t packets) noexcept;
  std::uint64_t batches() const noexcept { return batches_; }

  /// Cycles per packet that a share `of` of the batches does not exceed; 0 without batches.
  double quantile(double of) const noexcept;

 private:
  static constexpr std::size_t kBuckets = 8192;
  static constexpr std::uint64_t kCyclesPerBucket = 2;
  std::vector<std::uint64_t> buckets_;
  std::uint64_t batches_ = 0;
};

/// The highest rate, in packets per cycle, at which a queue of `queue` packets never overflows when packets come evenly
/// and are taken `batch` at a time, the batches costing these cycles one after the other.
/// Never more than the batches take on average. 0 without batches. Source: Lindley's recursion.
double lossless_rate(std::span<const std::uint32_t> batch_cycles, std::size_t batch, std::size_t queue) noexcept;

}  // namespace parshall::lab
