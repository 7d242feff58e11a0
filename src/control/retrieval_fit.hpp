// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"

namespace parshall {

/// Gumbel is the distribution of maxima: its long tail is to the right. Normal is the paper's baseline.
enum class RetrievalFamily : std::uint8_t { normal, weibull, gumbel };

/// How long it takes to find a flow's entry, as a distribution of times in ns.
///
/// Shape:  24 bytes, a plain value. The scale is above 0, and so is Weibull's shape.
/// Error:  rounding, some 1e-15 of a probability; Weibull's sd is good to 1e-4 of itself. Normal and Gumbel give times
///         below 0 a probability too, which is next to none where the sd is a fraction of the mean.
/// Source: Tangari et al., MONA, IEEE TNSM 2020, section IV.A.
struct RetrievalModel {
  RetrievalFamily family = RetrievalFamily::normal;
  double location_or_shape = 0;  ///< Normal: the mean, ns. Gumbel: the mode, ns. Weibull: the shape, without a unit.
  double scale = 1;              ///< ns; Normal: the sd

  /// The probability of a time up to `time_ns`.
  double cdf(double time_ns) const noexcept;
  /// 1 - cdf, with all its digits where the cdf is next to 1.
  double survival(double time_ns) const noexcept;
  /// The time that one of `probability`, above 0 and below 1, is up to; ns.
  double quantile(double probability) const noexcept;
  double mean() const noexcept;  ///< ns
  double sd() const noexcept;    ///< ns
};

struct Fit {
  RetrievalModel model;
  double log_likelihood;  ///< natural, of densities per ns
  double bic;             ///< k ln n - 2 log_likelihood with k = 2, lower is better. Compare differences: a unit of
                          ///< time other than the ns adds the same to all.
};

inline constexpr std::size_t kFewestRetrievals = 20;

/// The most likely model of each family, the best first. Fails on fewer than kFewestRetrievals samples, on times that
/// are not finite and above 0, and on times that all are the same to 1e-10 of them.
///
/// Cost:   some 20 exponentials a sample, 0.2 s for 1e6; 8 bytes a sample of memory.
/// Error:  of the parameters, 1e-9 of the scale beyond what the samples leave open. The right family
///         is the best in all of 200 draws of 10,000 samples of the paper's variations, in 98 % of draws of 1000 and in
///         68 % of 100 where it is hardest. One lookup that an interrupt met moves every model: 1 ms among 10,000 of
///         90 ns makes Gumbel's scale 101 and not 8. Leave such samples out.
/// Source: Schwarz, "Estimating the dimension of a model", Annals of Statistics 6(2), 1978, for the criterion.
Result<std::vector<Fit>> fit_all(std::span<const double> samples_ns);

}  // namespace parshall
