// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.hpp"

namespace parshall::lab {

/// Families of distributions. Gumbel is that of maxima, with its long tail to the right. Normal is the paper's
/// baseline.
enum class RetrievalFamily : std::uint8_t { normal, weibull, gumbel };

/// Distribution of the time to find a flow's entry, in ns.
///
/// Shape:  24 bytes, a plain value. The scale is above 0, and so is Weibull's shape.
/// Error:  rounding, about 1e-15 of a probability; Weibull's sd is accurate to 1e-4. Normal and Gumbel also give times
///         below 0 a probability, which is negligible if the sd is a fraction of the mean.
/// Source: Tangari et al., MONA, IEEE/ACM ToN 2020, section IV.A.
struct RetrievalModel {
  RetrievalFamily family = RetrievalFamily::normal;
  double location_or_shape = 0;  ///< Normal: the mean, ns. Gumbel: the mode, ns. Weibull: the shape, without a unit.
  double scale = 1;              ///< ns; Normal: the sd

  /// Returns the probability of a time up to `time_ns`.
  double cdf(double time_ns) const noexcept;
  /// Returns 1 - cdf, with all digits even if the cdf is close to 1.
  double survival(double time_ns) const noexcept;
  /// Returns the time in ns that is not exceeded with this `probability`, above 0 and below 1.
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

/// Fits the most likely model of each family; returns the best first. Error: fewer than kFewestRetrievals samples,
/// times that are not finite and above 0, or times that are all equal to within 1e-10.
///
/// Cost:   about 20 exponentials a sample, 0.2 s for 1e6; 8 bytes of memory a sample.
/// Error:  parameters are accurate to 1e-9 of the scale, beyond the uncertainty of the samples. The right family is
///         best in all of 200 draws of 10,000 samples of the paper's variations. In the hardest case it is best in 98 %
///         of draws of 1000, and in 68 % of draws of 100. One lookup disturbed by an interrupt moves every model: 1 ms
///         among 10,000 of 90 ns makes Gumbel's scale 101 instead of 8. Leave such samples out.
/// Source: Schwarz, "Estimating the dimension of a model", Annals of Statistics 6(2), 1978, for the criterion.
Result<std::vector<Fit>> fit_all(std::span<const double> samples_ns);

}  // namespace parshall::lab
