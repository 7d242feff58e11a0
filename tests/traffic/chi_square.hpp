// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace parshall {

/// Regularized upper incomplete gamma function Q(a, x), for a > 0 and x >= 0.
///
/// Error: relative, below 1e-10 where Q is above 1e-300.
/// Source: Abramowitz and Stegun, 6.5.29 (series) and 6.5.31 (continued fraction, by Lentz's method).
inline double upper_gamma(double a, double x) {
  constexpr double kEnough = 1e-16, kTiny = 1e-300;
  if (x <= 0) return 1;
  const double scale = std::exp(a * std::log(x) - x - std::lgamma(a));
  if (x < a + 1) {
    double term = 1 / a, sum = term;
    for (double n = a + 1; term > sum * kEnough; ++n) sum += term *= x / n;
    return 1 - scale * sum;
  }
  double b = x + 1 - a, c = 1 / kTiny, d = 1 / b, fraction = d;
  for (int i = 1; i < 100'000; ++i) {
    const double step = -i * (i - a);
    b += 2;
    d = 1 / std::max(step * d + b, kTiny);
    c = std::max(b + step / c, kTiny);
    fraction *= c * d;
    if (std::fabs(c * d - 1) < kEnough) break;
  }
  return scale * fraction;
}

/// Probability that counts which follow the shares (they add up to 1) are as far from them as these, or farther. Ranks
/// of which fewer than 10 are due share a bin with those behind them.
/// Source: Pearson, 1900.
inline double chi_square_p(std::span<const std::uint64_t> counts, std::span<const double> shares) {
  constexpr double kLeastDue = 10;
  double all = 0;
  for (const std::uint64_t count : counts) all += static_cast<double>(count);
  struct Bin {
    double count = 0, due = 0;
  };
  std::vector<Bin> bins(1);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (bins.back().due >= kLeastDue) bins.emplace_back();
    bins.back().count += static_cast<double>(counts[i]);
    bins.back().due += shares[i] * all;
  }
  if (bins.size() > 1 && bins.back().due < kLeastDue) {
    const Bin rest = bins.back();
    bins.pop_back();
    bins.back().count += rest.count;
    bins.back().due += rest.due;
  }
  double square = 0;
  for (const Bin& bin : bins) square += (bin.count - bin.due) * (bin.count - bin.due) / bin.due;
  return upper_gamma(static_cast<double>(bins.size() - 1) / 2, square / 2);
}

/// 1 / k^exponent, k from 1 to n, over their sum.
inline std::vector<double> zipf_shares(double exponent, std::uint64_t n) {
  std::vector<double> shares(n);
  double sum = 0;
  for (std::uint64_t k = n; k >= 1; --k) sum += shares[k - 1] = std::pow(static_cast<double>(k), -exponent);
  for (double& share : shares) share /= sum;
  return shares;
}

}  // namespace parshall
