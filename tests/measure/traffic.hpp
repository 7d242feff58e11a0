// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

namespace parshall {

/// A distribution of samples to test statistics with; the same numbers for the same seed.
struct Distribution {
  std::string_view name;
  std::uint64_t (*draw)(std::mt19937_64&);
};

inline double unit_interval(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }
inline double exponential(std::mt19937_64& random, double mean) { return -mean * std::log1p(-unit_interval(random)); }
inline double lognormal(std::mt19937_64& random, double mu, double sigma) {
  const double radius = std::sqrt(2 * exponential(random, 1));
  return std::exp(mu + sigma * radius * std::cos(2 * std::acos(-1.0) * unit_interval(random)));
}
inline std::uint64_t whole(double value) { return static_cast<std::uint64_t>(value); }

inline constexpr Distribution kUniform{"uniform", [](std::mt19937_64& r) { return r() % 100'000; }};
inline constexpr Distribution kZipf{"Zipf-like",
                                    [](std::mt19937_64& r) { return whole(1 / (unit_interval(r) + 1e-9)); }};
inline constexpr Distribution kExponential{"exponential",
                                           [](std::mt19937_64& r) { return whole(exponential(r, 65'536)); }};
inline constexpr Distribution kLognormal{"lognormal", [](std::mt19937_64& r) { return whole(lognormal(r, 8, 1.5)); }};
inline constexpr Distribution kBimodal{
    "bimodal", [](std::mt19937_64& r) { return unit_interval(r) < 0.95 ? 10 + r() % 20 : 100'000 + r() % 100'000; }};
inline constexpr Distribution kZeroOrOne{"0 or 1", [](std::mt19937_64& r) { return r() & 1; }};

inline std::vector<std::uint64_t> draw(const Distribution& distribution, std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> samples(count);
  std::ranges::generate(samples, [&] { return distribution.draw(random); });
  return samples;
}

}  // namespace parshall
