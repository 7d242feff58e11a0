// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/huge_buffer.hpp"
#include "base/prefetch.hpp"
#include "pipeline/measure/sketches/sketch.hpp"

namespace parshall {

/// One counter for each value of a hash; keys with the same value share it.
///
/// Shape:  one array of counters; a key's counter is at its hash's top bits.
/// Cost:   one cache line.
/// Error:  never below the truth. N packets in w counters add N / w to a key's on average, so by Markov's inequality
///         more than N / (w p) with probability p at most.
/// Merge:  counter by counter.
/// Source: the "count array" of Alipourfard et al., "A Comparison of Performance and Accuracy of Measurement Algorithms
///         in Software", SOSR 2018.
template <MapKey K, std::unsigned_integral Counter = std::uint32_t>
class CountArray {
 public:
  using Key = K;

  /// Ignores the seed: the hash is already seeded, and a second seed would not change anything.
  explicit CountArray(SketchSize size, std::uint64_t /*seed*/ = 0)
      : counters_(sketches::row_width(size.width)), shift_(64 - sketches::row_bits(size.width)) {}

  static std::optional<SketchSize> size_for(double epsilon, double probability) noexcept {
    return sketches::size_of_width(1 / (epsilon * probability), 1);
  }
  static std::size_t memory_bytes(SketchSize size) noexcept {
    return sketches::row_width(size.width) * sizeof(Counter);
  }

  void prefetch(std::uint64_t hash) const noexcept { prefetch_line(&counters_[hash >> shift_]); }

  std::uint64_t add(std::uint64_t hash, const Key&) noexcept {
    ++packets_;
    return sketches::increment(counters_[hash >> shift_]);
  }

  std::uint64_t estimate(std::uint64_t hash, const Key&) const noexcept { return counters_[hash >> shift_]; }

  ErrorBound error_bound(double probability) const noexcept {
    const double mean = static_cast<double>(packets_) / static_cast<double>(counters_.size());
    return {sketches::whole(mean / probability, packets_), sketches::beyond_full<Counter>(packets_), probability};
  }

  bool merge(const CountArray& other) noexcept {
    if (other.counters_.size() != counters_.size()) return false;
    for (std::size_t i = 0; i < counters_.size(); ++i) counters_[i] = sketches::sum(counters_[i], other.counters_[i]);
    packets_ += other.packets_;
    return true;
  }

  std::uint64_t packets() const noexcept { return packets_; }

 private:
  HugeBuffer<Counter> counters_;
  unsigned shift_;
  std::uint64_t packets_ = 0;
};

}  // namespace parshall
