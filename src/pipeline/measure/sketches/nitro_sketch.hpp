// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "base/huge_buffer.hpp"
#include "base/random.hpp"
#include "pipeline/measure/sketches/key_heap.hpp"
#include "pipeline/measure/sketches/row_hash.hpp"
#include "pipeline/measure/sketches/sketch.hpp"

namespace parshall {

/// Count sketch in which each row counts a packet only with probability 1 / n, and then as n. One number for all rows
/// says how many to skip. A list holds the largest keys.
///
/// Shape:  rows of signed counters; a list of an eighth of the width's keys.
/// Cost:   a subtraction; for one packet in n / rows, a cache line and two multiplications for a row, an estimate by
///         all rows, and a lookup in the list.
/// Error:  in both directions. Each row's estimate for a key of x packets has two variances. One is (n - 1) x. The
///         other is the sum of squares of the other keys' packets over the width, and as much again for the sampling.
///         With an even number of rows the two in the middle are averaged. The list has each key's largest estimate so
///         far; estimate() gives the latest. Up to 2^31 packets.
/// Source: Liu et al., "NitroSketch: robust and general sketch-based monitoring in software switches", SIGCOMM 2019, at
///         a fixed rate, over Charikar, Chen, Farach-Colton's count sketch, ICALP 2002.
template <MapKey K>
class NitroSketch {
 public:
  using Key = K;
  static constexpr std::uint32_t kOneIn = 16;  ///< default

  NitroSketch(SketchSize size, std::uint64_t seed, std::uint32_t one_in = kOneIn)
      : rows_(sketches::rows_of(size)),
        bits_(sketches::row_bits(size.width)),
        one_in_(std::max(one_in, 1u)),
        log_others_(std::log1p(-1.0 / one_in_)),
        counters_(rows_ * sketches::row_width(size.width)),
        list_(sketches::listed_of(size)),
        random_(seed) {
    for (RowHash& hash : hashes_) hash = RowHash(random_);
    skip_ = next_gap() - 1;
  }

  static std::size_t memory_bytes(SketchSize size) noexcept {
    return sketches::rows_of(size) * sketches::row_width(size.width) * sizeof(std::int32_t) +
           KeyHeap<K>::memory_bytes(sketches::listed_of(size));
  }

  void prefetch(std::uint64_t) const noexcept {}

  /// Returns the new estimate, or 0 for a packet that no row counts.
  [[gnu::always_inline]] std::uint64_t add(std::uint64_t hash, const Key& key) noexcept {
    ++packets_;
    if (skip_ >= rows_) [[likely]] {
      skip_ -= rows_;
      return 0;
    }
    return count(hash, key);
  }

  std::uint64_t estimate(std::uint64_t hash, const Key&) const noexcept {
    std::array<std::int64_t, SketchSize::kMaxRows> by_row;  // sorted
    for (std::size_t row = 0; row < rows_; ++row) {
      const std::uint64_t spread = hashes_[row](hash);
      const std::int64_t count = sign(spread) * counters_[at(row, spread)];
      std::size_t place = row;
      for (; place != 0 && by_row[place - 1] > count; --place) by_row[place] = by_row[place - 1];
      by_row[place] = count;
    }
    const std::int64_t middle = (by_row[(rows_ - 1) / 2] + by_row[rows_ / 2]) / 2;
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, middle));
  }

  template <class Do>
  void visit(Do&& run) const {
    list_.visit(run);
  }

  std::uint64_t packets() const noexcept { return packets_; }
  std::size_t size() const noexcept { return list_.size(); }

 private:
  /// Uses the bit below the place, as the lowest bits are not random.
  std::int64_t sign(std::uint64_t spread) const noexcept { return (spread >> (63 - bits_) & 1) != 0 ? 1 : -1; }
  std::size_t at(std::size_t row, std::uint64_t spread) const noexcept { return row << bits_ | spread >> (64 - bits_); }

  /// Returns the distance from one counting row of a packet to the next: geometric, at least 1.
  std::uint64_t next_gap() noexcept {
    if (one_in_ == 1) return 1;
    return 1 + static_cast<std::uint64_t>(std::log(1 - random_.uniform()) / log_others_);
  }

  [[gnu::noinline]] std::uint64_t count(std::uint64_t hash, const Key& key) noexcept {
    for (; skip_ < rows_; skip_ += next_gap()) {
      const std::uint64_t spread = hashes_[skip_](hash);
      counters_[at(skip_, spread)] += static_cast<std::int32_t>(sign(spread) * one_in_);
    }
    skip_ -= rows_;
    const std::uint64_t now = estimate(hash, key);
    if (now == 0) return 0;
    if (const Place listed = list_.find(hash, key); listed != kNowhere)
      list_.raise(listed, std::max(now, list_.count(listed)));
    else if (!list_.full())
      list_.insert(hash, key, now);
    else if (now > list_.least())
      list_.replace_least(hash, key, now, 0);
    return now;
  }

  std::size_t rows_, bits_;
  std::uint32_t one_in_;
  double log_others_;       ///< log of the probability that a row does not count
  std::uint64_t skip_ = 0;  ///< rows to skip before the next one that counts
  HugeBuffer<std::int32_t> counters_;
  KeyHeap<K> list_;
  std::array<RowHash, SketchSize::kMaxRows> hashes_;
  SplitMix64 random_;
  std::uint64_t packets_ = 0;
};

}  // namespace parshall
