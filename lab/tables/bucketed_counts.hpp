// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <limits>
#include <unordered_map>

#include "base/huge_buffer.hpp"
#include "base/prefetch.hpp"
#include "base/simd.hpp"
#include "pipeline/measure/sketches/sketch.hpp"

namespace parshall::lab {

/// The monitor's bucketed table reduced to counting: no keys, no bytes, no times.
///
/// Shape:  lines of 64 bytes with eight 32-bit tags and eight 32-bit counts; sized to be half full. If a key's line is
///         full, it is in the next one that is not.
/// Cost:   one cache line.
/// Error:  keys with one tag in one run of lines are counted as one. Each of n keys collides with probability 2^-31 for
///         each key in the lines it searches. Counts are never below the truth, except for rejected packets.
/// Full:   if kLongestRun lines in a row are full, packets of further keys that belong there are rejected.
template <MapKey K, std::unsigned_integral Counter = std::uint32_t>
class BucketedCounts {
 public:
  using Key = K;

  BucketedCounts(SketchSize size, std::uint64_t /*seed*/)
      : lines_(lines_for(size.width)), shift_(64 - static_cast<unsigned>(std::countr_zero(lines_.size()))) {}

  static std::size_t memory_bytes(SketchSize size) noexcept { return lines_for(size.width) * sizeof(Line); }

  void prefetch(std::uint64_t hash) const noexcept { prefetch_line(&lines_[hash >> shift_]); }

  std::uint64_t add(std::uint64_t hash, const Key&) {
    const std::uint32_t tag = tag_of(hash);
    std::size_t at = hash >> shift_;
    for (std::size_t looked = 0; looked < kLongestRun; ++looked, at = next(at)) {
      Line& line = lines_[at];
      if (const unsigned match = line.equal(tag); match != 0) [[likely]]
        return count(at, static_cast<unsigned>(std::countr_zero(match)));
      if (const unsigned free = line.equal(0); free != 0) {
        const auto i = static_cast<unsigned>(std::countr_zero(free));
        line.tags[i] = tag;
        ++used_;
        return count(at, i);
      }
    }
    ++rejected_;
    return 0;
  }

  std::uint64_t estimate(std::uint64_t hash, const Key&) const noexcept {
    std::size_t at = hash >> shift_;
    for (std::size_t looked = 0; looked < kLongestRun; ++looked, at = next(at)) {
      const Line& line = lines_[at];
      if (const unsigned match = line.equal(tag_of(hash)); match != 0)
        return whole_count(at, static_cast<unsigned>(std::countr_zero(match)));
      if (line.equal(0) != 0) break;
    }
    return 0;
  }

  std::size_t places() const noexcept { return lines_.size() * kLinePlaces; }
  std::size_t size() const noexcept { return used_; }
  std::uint64_t rejected() const noexcept { return rejected_; }

 private:
  static constexpr std::size_t kLinePlaces = 8, kLongestRun = 16;

  struct alignas(64) Line {
    std::array<std::uint32_t, kLinePlaces> tags;
    std::array<Counter, kLinePlaces> counts;

    unsigned equal(std::uint32_t tag) const noexcept {
      const auto of_four = [this, wanted = simd::all(tag)](std::size_t first) {
        return simd::mask_of_words32(simd::equal<std::uint32_t>(simd::load(&tags[first]), wanted));
      };
      return of_four(0) | of_four(4) << 4;
    }
  };
  static_assert(sizeof(Line) == 64);

  static std::size_t lines_for(std::size_t keys) noexcept {
    return std::bit_ceil(std::max<std::size_t>(2, (keys + 3) / 4));
  }
  static std::uint32_t tag_of(std::uint64_t hash) noexcept { return static_cast<std::uint32_t>(hash) | 1; }
  std::size_t next(std::size_t line) const noexcept { return (line + 1) & (lines_.size() - 1); }

  std::uint64_t count(std::size_t line, unsigned i) {
    Counter& count = lines_[line].counts[i];
    if (++count == 0) [[unlikely]]
      ++wraps_[line * kLinePlaces + i];
    return wraps_.empty() ? count : whole_count(line, i);
  }
  std::uint64_t whole_count(std::size_t line, unsigned i) const noexcept {
    const auto wraps = wraps_.find(line * kLinePlaces + i);
    return lines_[line].counts[i] + (wraps == wraps_.end() ? 0 : wraps->second << std::numeric_limits<Counter>::digits);
  }

  HugeBuffer<Line> lines_;
  unsigned shift_;
  std::size_t used_ = 0;
  std::uint64_t rejected_ = 0;
  std::unordered_map<std::size_t, std::uint64_t> wraps_;  ///< overflows of counts, by place
};

}  // namespace parshall::lab
