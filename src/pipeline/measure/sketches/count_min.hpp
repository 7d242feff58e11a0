// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>

#include "base/huge_buffer.hpp"
#include "base/prefetch.hpp"
#include "pipeline/measure/sketches/row_hash.hpp"
#include "pipeline/measure/sketches/sketch.hpp"

namespace parshall {

enum class CountMinUpdate : std::uint8_t {
  plain,         ///< every row counts every packet
  conservative,  ///< only the key's smallest counters do, the only ones that its estimate reads
};

/// Several rows of counters, each with its own hash; a key's estimate is the least of its counters.
///
/// Shape:  rows of counters, one behind the other.
/// Cost:   a cache line for each row; also a multiplication each if the hash has too few bits for all rows.
/// Error:  never below the truth. N packets add N / w to a key's counter on average. So by Markov's inequality they add
///         more than c N / w in all of d rows with probability c^-d at most: e N / w and e^-d in the paper. Rows that
///         use bits of the key's hash need all of them to be random, as KeyedHash's are. Conservative update is never
///         worse.
/// Merge:  counter by counter, also after conservative updates; each sum is no less than the key's true count.
/// Source: Cormode and Muthukrishnan, "An improved data stream summary: the count-min sketch and its applications", J.
///         Algorithms 55, 2005; conservative update: Estan and Varghese, "New directions in traffic measurement and
///         accounting", SIGCOMM 2002.
template <MapKey K, CountMinUpdate Update = CountMinUpdate::plain, std::unsigned_integral Counter = std::uint32_t>
class CountMin {
 public:
  using Key = K;

  CountMin(SketchSize size, std::uint64_t seed)
      : rows_(sketches::rows_of(size)),
        bits_(sketches::row_bits(size.width)),
        counters_(rows_ * sketches::row_width(size.width)) {
    SplitMix64 random(seed);
    for (RowHash& hash : hashes_) hash = RowHash(random);
  }

  static std::optional<SketchSize> size_for(double epsilon, double probability) noexcept {
    if (!(probability > 0)) return std::nullopt;
    const double rows = std::clamp(std::ceil(-std::log(probability)), 1.0, double{SketchSize::kMaxRows});
    return sketches::size_of_width(std::pow(probability, -1 / rows) / epsilon, static_cast<unsigned>(rows));
  }
  static std::size_t memory_bytes(SketchSize size) noexcept {
    return sketches::rows_of(size) * sketches::row_width(size.width) * sizeof(Counter);
  }

  [[gnu::always_inline]] void prefetch(std::uint64_t hash) const noexcept {
    if (most_have()) [[likely]]
      return prefetch_rows<true>(hash);
    prefetch_others(hash);
  }

  [[gnu::always_inline]] std::uint64_t add(std::uint64_t hash, const Key&) noexcept {
    ++packets_;
    if (most_have()) [[likely]]
      return add_to_rows<true>(hash);
    return add_to_others(hash);
  }

  std::uint64_t estimate(std::uint64_t hash, const Key&) const noexcept {
    Counter least = sketches::kFull<Counter>;
    each_row<false>(hash, [&](std::size_t at) { least = std::min(least, counters_[at]); });
    return least;
  }

  ErrorBound error_bound(double probability) const noexcept {
    const double mean = static_cast<double>(packets_) / static_cast<double>(std::size_t{1} << bits_);
    return {sketches::whole(mean * std::pow(probability, -1 / static_cast<double>(rows_)), packets_),
            sketches::beyond_full<Counter>(packets_), probability};
  }

  bool merge(const CountMin& other) noexcept {
    if (other.rows_ != rows_ || other.bits_ != bits_ || other.hashes_ != hashes_) return false;
    for (std::size_t i = 0; i < counters_.size(); ++i) counters_[i] = sketches::sum(counters_[i], other.counters_[i]);
    packets_ += other.packets_;
    return true;
  }

  std::uint64_t packets() const noexcept { return packets_; }

 private:
  /// Returns whether there are three rows that use separate bits of the hash. This case is compiled separately, without
  /// a loop.
  bool most_have() const noexcept { return rows_ == 3 && 3 * bits_ <= 64; }

  /// Calls `visit` with the key's place in each row. Rows use separate bits of the hash if it has enough.
  template <bool MostHave, class Visit>
  [[gnu::always_inline]] void each_row(std::uint64_t hash, Visit visit) const noexcept {
    const std::size_t bits = bits_, rows = rows_;
    if constexpr (MostHave) {
      visit(hash >> (64 - bits));
      visit(std::size_t{1} << bits | hash << bits >> (64 - bits));
      visit(std::size_t{2} << bits | hash << 2 * bits >> (64 - bits));
    } else {
      const bool own_bits = rows * bits <= 64;
      for (std::size_t row = 0; row < rows; ++row)
        visit(row << bits | (own_bits ? hash << row * bits : hashes_[row](hash)) >> (64 - bits));
    }
  }

  template <bool MostHave>
  [[gnu::always_inline]] void prefetch_rows(std::uint64_t hash) const noexcept {
    each_row<MostHave>(hash, [&](std::size_t at) { prefetch_line(&counters_[at]); });
  }
  [[gnu::noinline]] void prefetch_others(std::uint64_t hash) const noexcept { prefetch_rows<false>(hash); }

  template <bool MostHave>
  [[gnu::always_inline]] std::uint64_t add_to_rows(std::uint64_t hash) noexcept {
    Counter least = sketches::kFull<Counter>;
    if constexpr (Update == CountMinUpdate::plain) {
      each_row<MostHave>(hash, [&](std::size_t at) { least = std::min(least, sketches::increment(counters_[at])); });
    } else {
      each_row<MostHave>(hash, [&](std::size_t at) { least = std::min(least, counters_[at]); });
      sketches::increment(least);
      each_row<MostHave>(hash, [&](std::size_t at) { counters_[at] = std::max(counters_[at], least); });
    }
    return least;
  }
  [[gnu::noinline]] std::uint64_t add_to_others(std::uint64_t hash) noexcept { return add_to_rows<false>(hash); }

  std::size_t rows_, bits_;  // a type that no counter has, or gcc would reload them after every store
  HugeBuffer<Counter> counters_;
  std::array<RowHash, SketchSize::kMaxRows> hashes_;
  std::uint64_t packets_ = 0;
};

}  // namespace parshall
