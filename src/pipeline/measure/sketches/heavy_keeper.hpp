// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>

#include "base/huge_buffer.hpp"
#include "base/prefetch.hpp"
#include "pipeline/measure/sketches/key_heap.hpp"
#include "pipeline/measure/sketches/row_hash.hpp"
#include "pipeline/measure/sketches/sketch.hpp"

namespace parshall {

/// Buckets of one fingerprint and its count, with a list of the largest keys. Packets of other keys wear a count down,
/// with a probability that falls as the count grows.
///
/// Shape:  rows of buckets of 8 bytes; a list of an eighth of the width's keys.
/// Cost:   a lookup in the list; a cache line, a multiplication and at times a random number for each row.
/// Error:  above the truth only if two keys share a bucket and a 32-bit fingerprint. Below it as follows, for packets
///         in random order (b is 1.08; N packets, d rows of w buckets). A row is good for a key of n packets if the
///         others in its bucket have less than n / 4. No row is good with probability (4 N / (n w))^d at most. In a
///         good row, the N / w packets of others are spread over the key's n. They meet its count at each i alike and
///         take one off with probability b^-i: N / (w n (b - 1)) in all on average. So it loses epsilon N or more with
///         probability 1 / (epsilon w n (b - 1)) at most. For other orders there is no bound: keys that come later
///         hardly wear down a large count.
/// Source: Gong et al., "HeavyKeeper: an accurate algorithm for finding top-k elephant flows", USENIX ATC 2018, with
///         its fingerprint collision detection and selective increment. The good row is ours; the rest of the bound has
///         the form of theirs.
template <MapKey K, std::unsigned_integral Counter = std::uint32_t>
class HeavyKeeper {
 public:
  using Key = K;

  HeavyKeeper(SketchSize size, std::uint64_t seed)
      : rows_(sketches::rows_of(size)),
        bits_(sketches::row_bits(size.width)),
        buckets_(rows_ * sketches::row_width(size.width)),
        list_(sketches::listed_of(size)),
        random_(seed) {
    for (RowHash& hash : hashes_) hash = RowHash(random_);
  }

  /// Returns a size. Its bound holds once there have been 4 / (epsilon^2 w p (b - 1)) packets.
  static std::optional<SketchSize> size_for(double epsilon, double probability) noexcept {
    if (!(probability > 0)) return std::nullopt;
    const double rows = std::clamp(std::ceil(-std::log(probability / 2)), 1.0, double{SketchSize::kMaxRows});
    return sketches::size_of_width(4 * std::pow(probability / 2, -1 / rows) / epsilon, static_cast<unsigned>(rows));
  }
  static std::size_t memory_bytes(SketchSize size) noexcept {
    return sketches::rows_of(size) * sketches::row_width(size.width) * sizeof(Bucket) +
           KeyHeap<K>::memory_bytes(sketches::listed_of(size));
  }

  void prefetch(std::uint64_t hash) const noexcept {
    for (std::size_t row = 0; row < rows_; ++row) prefetch_line(&buckets_[at(row, hash)]);
    list_.prefetch(hash);
  }

  std::uint64_t add(std::uint64_t hash, const Key& key) noexcept {
    ++packets_;
    const Place listed = list_.find(hash, key);
    const std::uint64_t least = list_.full() ? list_.least() : ~std::uint64_t{0};
    // If a key is not listed but its count exceeds the least listed one, the count is from another key with its
    // fingerprint.
    const std::uint64_t most = listed == kNowhere ? least : ~std::uint64_t{0};
    Counter count = 0, left_alone = 0;
    for (std::size_t row = 0; row < rows_; ++row) {
      Bucket& bucket = buckets_[at(row, hash)];
      if (bucket.count != 0 && bucket.fingerprint == fingerprint(hash) && bucket.count > most)
        left_alone = std::max(left_alone, bucket.count);
      else
        count = std::max(count, add_to(bucket, fingerprint(hash)));
    }
    if (listed != kNowhere) {
      if (count <= list_.count(listed)) return list_.count(listed);
      list_.raise(listed, count);
    } else if (!list_.full()) {
      if (count != 0) list_.insert(hash, key, count);
    } else if (count == least + 1) {
      list_.replace_least(hash, key, count, 0);
      return count;
    }
    return std::max(count, left_alone);
  }

  std::uint64_t estimate(std::uint64_t hash, const Key& key) const noexcept {
    if (const Place listed = list_.find(hash, key); listed != kNowhere) return list_.count(listed);
    Counter count = 0;
    for (std::size_t row = 0; row < rows_; ++row)
      if (const Bucket& bucket = buckets_[at(row, hash)]; bucket.fingerprint == fingerprint(hash))
        count = std::max(count, bucket.count);
    return count;
  }

  /// Splits the probability: half for rows that are not good, a quarter for the losses of good ones, a quarter for
  /// fingerprints.
  ErrorBound error_bound(double probability) const noexcept {
    const auto packets = static_cast<double>(packets_), width = static_cast<double>(std::size_t{1} << bits_);
    const double no_good_row = 4 / (width * std::pow(probability / 2, 1 / static_cast<double>(rows_)));
    const double worn_down = std::sqrt(4 / (probability * width * packets * (kBase - 1)));
    const double same_fingerprint = static_cast<double>(rows_) * packets / (width * 0x1p32);
    const std::uint64_t under =
        packets_ == 0 ? 0 : sketches::whole(packets * std::max(no_good_row, worn_down), packets_);
    return {0, std::max(under, sketches::beyond_full<Counter>(packets_)),
            probability * 3 / 4 + std::max(same_fingerprint, probability / 4)};
  }

  template <class Do>
  void visit(Do&& run) const {
    list_.visit(run);
  }

  std::uint64_t packets() const noexcept { return packets_; }
  std::size_t size() const noexcept { return list_.size(); }

 private:
  static constexpr double kBase = 1.08;  ///< b of the paper

  struct Bucket {
    std::uint32_t fingerprint;
    Counter count;  ///< 0 means free
  };

  /// base^-count in units of 2^-32, saturated to 32 bits.
  static constexpr auto kWearDown = [] {
    std::array<std::uint32_t, 288> table{};
    double share = 0x1p32;
    for (auto& entry : table) {
      entry = share < 0x1p32 ? static_cast<std::uint32_t>(share) : 0xFFFF'FFFF;
      share /= kBase;
    }
    return table;
  }();

  static std::uint32_t fingerprint(std::uint64_t hash) noexcept { return static_cast<std::uint32_t>(hash); }
  std::size_t at(std::size_t row, std::uint64_t hash) const noexcept {
    return row << bits_ | hashes_[row](hash) >> (64 - bits_);
  }

  /// Adds one packet. Returns the key's count in this bucket.
  Counter add_to(Bucket& bucket, std::uint32_t fingerprint) noexcept {
    if (bucket.count != 0 && bucket.fingerprint == fingerprint) return sketches::increment(bucket.count);
    if (bucket.count != 0) {
      if (bucket.count >= kWearDown.size() || random_() >> 32 >= kWearDown[bucket.count]) return 0;
      if (--bucket.count != 0) return 0;
    }
    bucket = {fingerprint, 1};
    return 1;
  }

  std::size_t rows_, bits_;  // a type that no counter has, or gcc would reload them after every store
  HugeBuffer<Bucket> buckets_;
  KeyHeap<K> list_;
  std::array<RowHash, SketchSize::kMaxRows> hashes_;
  SplitMix64 random_;
  std::uint64_t packets_ = 0;
};

}  // namespace parshall
