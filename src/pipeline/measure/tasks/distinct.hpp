// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace parshall {

/// Counters of distinct elements, given 64-bit hashes, in a fixed size, all zero at first. An element may come any
/// number of times.

/// Counts elements with a Bloom filter: an element counts if not all of its bits were set.
///
/// Error: too low only. After n others an element is mistaken for a known one with chance (1 - exp(-3 n / 1024))^3: 3 %
///        at 128, 20 % at 300, 67 % at 700. Above 700 the count has no meaning.
/// Source: Alipourfard et al., SOSR 2018, section 4.1: 1024 bits, three hashes.
struct BloomCount {
  std::array<std::uint64_t, 16> bits{};
  std::uint64_t count = 0;

  void add(std::uint64_t hash) noexcept {
    std::uint64_t fresh = 0;
    for (int i = 0; i < 3; ++i, hash >>= 10) {
      std::uint64_t& word = bits[hash >> 6 & 15];
      const std::uint64_t bit = std::uint64_t{1} << (hash & 63);
      fresh |= bit & ~word;
      word |= bit;
    }
    count += fresh != 0;
  }
  double estimate() const noexcept { return static_cast<double>(count); }

  /// Returns how far the truth may exceed the estimate, relative to it: up to the number that would hardly ever (3
  /// sigma) give so low an estimate. Returns nullopt if that is beyond kMost.
  static std::optional<double> relative_error(double estimate) noexcept {
    double expected = 0, variance = 0;
    for (int n = 0; n < kMost; ++n) {
      if (expected - 3 * std::sqrt(variance) >= estimate) return (n - estimate) / estimate;
      const double missed = std::pow(1 - std::exp(-3.0 * n / 1024), 3);
      expected += 1 - missed;
      variance += missed * (1 - missed);
    }
    return std::nullopt;
  }
  static constexpr int kMost = 700;
};

/// Linear counting: the number of elements that best explains how many of 1024 bits are clear.
///
/// Error: standard error sqrt(1024 (e^t - t - 1)) / n with t = n / 1024: 2.3 % at 128, 2.6 % at 1024, 4.1 % at 3000.
///        Above 4000 it is reported as a lower bound; it ends at 7098, where all bits are set.
/// Source: Whang, Vander-Zanden, Taylor, "A linear-time probabilistic counting algorithm for database applications",
///         ACM TODS 15(2), 1990, section 3.
struct LinearCount {
  std::array<std::uint64_t, 16> bits{};

  static constexpr double kBits = 1024;

  void add(std::uint64_t hash) noexcept { bits[hash >> 6 & 15] |= std::uint64_t{1} << (hash & 63); }
  double estimate() const noexcept {
    int clear = 1024;
    for (const std::uint64_t word : bits) clear -= std::popcount(word);
    return kBits * std::log(kBits / std::max(clear, 1));
  }
  /// Returns three standard errors, for a truth as far above the estimate.
  static std::optional<double> relative_error(double estimate) noexcept {
    if (estimate > 4000) return std::nullopt;
    const double n = 1.2 * estimate, t = n / kBits;
    return n == 0 ? 0 : 3 * std::sqrt(kBits * (std::exp(t) - t - 1)) / estimate;
  }
};

/// HyperLogLog with 256 registers of 8 bits; below 640, linear counting of the registers.
///
/// Error: standard error 1.04 / sqrt(256) = 6.5 %, for any number.
/// Source: Flajolet, Fusy, Gandouet, Meunier, "HyperLogLog", AofA 2007, figure 3. With 64-bit hashes large numbers need
///         no correction.
struct HyperLogLogCount {
  static constexpr std::size_t kRegisters = 256;
  /// Table of 2^-i.
  static constexpr std::array<double, 66> kPowers = [] {
    std::array<double, 66> powers{1};
    for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] / 2;
    return powers;
  }();
  std::array<std::uint8_t, kRegisters> registers{};

  void add(std::uint64_t hash) noexcept {
    std::uint8_t& seen = registers[hash & (kRegisters - 1)];
    seen = std::max(seen, static_cast<std::uint8_t>(std::countl_zero(hash | (kRegisters - 1)) + 1));
  }
  double estimate() const noexcept {
    double sum = 0;
    int zeros = 0;
    for (const std::uint8_t seen : registers) {
      sum += kPowers[seen];
      zeros += seen == 0;
    }
    constexpr double kM = kRegisters, kAlpha = 0.7213 / (1 + 1.079 / kM);
    const double raw = kAlpha * kM * kM / sum;
    return raw <= 2.5 * kM && zeros != 0 ? kM * std::log(kM / zeros) : raw;
  }
  static std::optional<double> relative_error(double) noexcept { return 3 * 1.04 / 16; }
};

}  // namespace parshall
