// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <cstdint>

namespace parshall {

/// SplitMix64: a full-period 64-bit generator whose output is a bijection of a counter.
/// Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
class SplitMix64 {
 public:
  using result_type = std::uint64_t;
  explicit constexpr SplitMix64(std::uint64_t seed) noexcept : state_(seed) {}

  constexpr std::uint64_t operator()() noexcept { return mix(state_ += 0x9E3779B97F4A7C15ull); }

  /// Mixes bijectively: different inputs give different outputs.
  static constexpr std::uint64_t mix(std::uint64_t z) noexcept {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }

  /// Returns a uniform number in [0, 1) with 53 random bits.
  constexpr double uniform() noexcept { return static_cast<double>((*this)() >> 11) * 0x1p-53; }

  /// Returns a uniform integer in [0, bound). Its bias is below 2^-32 for bounds below 2^32.
  constexpr std::uint64_t below(std::uint64_t bound) noexcept {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>((*this)()) * bound) >> 64);
  }

  static constexpr std::uint64_t min() noexcept { return 0; }
  static constexpr std::uint64_t max() noexcept { return ~std::uint64_t{0}; }

 private:
  std::uint64_t state_;
};

/// Draws ranks 0 .. n-1 with probability proportional to 1 / (rank + 1)^exponent, in O(1).
/// Source: Hormann and Derflinger, "Rejection-inversion to generate variates from monotone discrete
///         distributions", ACM TOMACS 6(3), 1996.
class Zipf {
 public:
  Zipf(double exponent, std::uint64_t n) noexcept
      : exponent_(exponent),
        n_(static_cast<double>(n)),
        low_(integral(1.5) - 1),
        high_(integral(n_ + 0.5)),
        squeeze_(2 - inverse(integral(2.5) - std::pow(2.0, -exponent))) {}

  std::uint64_t operator()(SplitMix64& random) const noexcept {
    for (;;) {
      const double u = high_ + random.uniform() * (low_ - high_);
      const double x = inverse(u);
      double k = std::floor(x + 0.5);
      if (k < 1) k = 1;
      if (k > n_) k = n_;
      if (k - x <= squeeze_ || u >= integral(k + 0.5) - std::pow(k, -exponent_))
        return static_cast<std::uint64_t>(k) - 1;
    }
  }

 private:
  bool harmonic() const noexcept { return std::fabs(exponent_ - 1) < 1e-9; }
  double integral(double x) const noexcept {
    return harmonic() ? std::log(x) : (std::pow(x, 1 - exponent_) - 1) / (1 - exponent_);
  }
  double inverse(double y) const noexcept {
    return harmonic() ? std::exp(y) : std::pow(1 + y * (1 - exponent_), 1 / (1 - exponent_));
  }

  double exponent_, n_, low_, high_, squeeze_;
};

}  // namespace parshall
