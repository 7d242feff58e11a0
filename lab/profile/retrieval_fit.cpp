// SPDX-License-Identifier: Apache-2.0
#include "lab/profile/retrieval_fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

namespace parshall::lab {
namespace {

using std::numbers::egamma, std::numbers::pi, std::numbers::sqrt2;

constexpr double kLeastSpread = 1e-10;  ///< relative to the longest time; below, logarithms lose too many digits
constexpr double kPrecision = 1e-9;     ///< relative to a scale, at the last step; the next would reach its square
constexpr int kMostSteps = 200;         ///< bisection alone needs a third of these

double normal_below(double z) noexcept { return std::erfc(-z / sqrt2) / 2; }

/// Returns a quantile by bisection, which is short, and called only a few times a run.
double normal_quantile(double probability) noexcept {
  if (probability > 0.5) return -normal_quantile(1 - probability);
  double low = -40, high = 0;  // below the lower bound no double is a probability
  for (int i = 0; i < 64; ++i) {
    const double middle = (low + high) / 2;
    (normal_below(middle) < probability ? low : high) = middle;
  }
  return high;
}

/// Location of samples, as distances from the least, which keep digits even if all times are long.
struct Spread {
  double least, mean_distance, sd;

  explicit Spread(std::span<const double> samples) noexcept : least(*std::min_element(samples.begin(), samples.end())) {
    const auto n = static_cast<double>(samples.size());
    double sum = 0, squares = 0;
    for (const double x : samples) sum += x - least;
    mean_distance = sum / n;
    for (const double x : samples) squares += (x - least - mean_distance) * (x - least - mean_distance);
    sd = std::sqrt(squares / n);
  }
  double mean() const noexcept { return least + mean_distance; }
};

/// Samples' distances from the least, each with weight exp(-distance / scale). No weight overflows; that of the least
/// is 1.
struct Weighted {
  double weights = 0, mean = 0, variance = 0;

  Weighted(std::span<const double> samples, double least, double scale) noexcept {
    double sum = 0, squares = 0;
    for (const double x : samples) {
      const double distance = x - least, weight = std::exp(-distance / scale);
      weights += weight;
      sum += weight * distance;
      squares += weight * distance * distance;
    }
    mean = sum / weights;
    variance = squares / weights - mean * mean;
  }
};

Fit fit_normal(std::span<const double> samples) noexcept {
  const Spread spread(samples);
  const double log_density = -std::log(2 * pi) / 2 - std::log(spread.sd) - 0.5;
  return {{RetrievalFamily::normal, spread.mean(), spread.sd}, static_cast<double>(samples.size()) * log_density, 0};
}

/// Fits a Gumbel distribution. The likelihood is greatest where scale = mean - weighted mean. Their difference rises
/// with the scale, from below 0 to above it at the mean's distance from the least, so there is one root between.
Fit fit_gumbel(std::span<const double> samples) noexcept {
  const auto n = static_cast<double>(samples.size());
  const Spread spread(samples);
  double low = std::numeric_limits<double>::min(), high = spread.mean_distance;
  double scale = std::min(high, spread.sd * std::sqrt(6) / pi);
  for (int i = 0; i < kMostSteps; ++i) {
    const Weighted weighted(samples, spread.least, scale);
    const double excess = scale - spread.mean_distance + weighted.mean;
    (excess < 0 ? low : high) = scale;
    const double newton = scale - excess / (1 + weighted.variance / (scale * scale));
    const double next = low <= newton && newton <= high ? newton : low + (high - low) / 2;
    const double step = next - scale;
    scale = next;
    if (std::fabs(step) <= kPrecision * scale) break;
  }
  const double log_weight = std::log(Weighted(samples, spread.least, scale).weights / n);
  return {{RetrievalFamily::gumbel, spread.least - scale * log_weight, scale},
          -n * (std::log(scale) + spread.mean_distance / scale + log_weight + 1),
          0};
}

/// Fits a Weibull distribution. If T is Weibull, -ln T is Gumbel, with the same likelihood except for the change of
/// variable.
Fit fit_weibull(std::span<const double> samples) {
  const auto n = static_cast<double>(samples.size());
  const double unit = Spread(samples).mean();  // keeps the logarithms small and their digits
  std::vector<double> logs(samples.size());
  std::transform(samples.begin(), samples.end(), logs.begin(), [unit](double t) { return -std::log(t / unit); });
  const Fit gumbel = fit_gumbel(logs);
  const double shape = 1 / gumbel.model.scale, scale = unit * std::exp(-gumbel.model.location_or_shape);
  return {
      {RetrievalFamily::weibull, shape, scale}, gumbel.log_likelihood + n * (Spread(logs).mean() - std::log(unit)), 0};
}

std::optional<Error> unfit(std::span<const double> samples_ns) {
  if (samples_ns.size() < kFewestRetrievals)
    return Error{fmt::format("cannot fit retrieval times: {} samples are too few; at least {} are needed",
                             samples_ns.size(), kFewestRetrievals)};
  for (std::size_t i = 0; i < samples_ns.size(); ++i)
    if (samples_ns[i] <= 0 || !std::isfinite(samples_ns[i]))
      return Error{fmt::format("cannot fit retrieval times: sample {} is {} ns; times must be finite and above 0", i,
                               samples_ns[i])};
  const auto [least, most] = std::minmax_element(samples_ns.begin(), samples_ns.end());
  if (*most - *least <= kLeastSpread * *most)
    return Error{
        fmt::format("cannot fit retrieval times: all {} samples are {} ns; use a clock with a higher resolution",
                    samples_ns.size(), *most)};
  return std::nullopt;
}

}  // namespace

double RetrievalModel::cdf(double time_ns) const noexcept {
  if (family == RetrievalFamily::normal) return normal_below((time_ns - location_or_shape) / scale);
  if (family == RetrievalFamily::weibull)
    return time_ns <= 0 ? 0 : -std::expm1(-std::pow(time_ns / scale, location_or_shape));
  return std::exp(-std::exp((location_or_shape - time_ns) / scale));
}

double RetrievalModel::survival(double time_ns) const noexcept {
  if (family == RetrievalFamily::normal) return normal_below((location_or_shape - time_ns) / scale);
  if (family == RetrievalFamily::weibull)
    return time_ns <= 0 ? 1 : std::exp(-std::pow(time_ns / scale, location_or_shape));
  return -std::expm1(-std::exp((location_or_shape - time_ns) / scale));
}

double RetrievalModel::quantile(double probability) const noexcept {
  if (family == RetrievalFamily::normal) return location_or_shape + scale * normal_quantile(probability);
  if (family == RetrievalFamily::weibull) return scale * std::pow(-std::log1p(-probability), 1 / location_or_shape);
  return location_or_shape - scale * std::log(-std::log(probability));
}

double RetrievalModel::mean() const noexcept {
  if (family == RetrievalFamily::normal) return location_or_shape;
  if (family == RetrievalFamily::weibull) return scale * std::tgamma(1 + 1 / location_or_shape);
  return location_or_shape + egamma * scale;
}

double RetrievalModel::sd() const noexcept {
  if (family == RetrievalFamily::normal) return scale;
  if (family == RetrievalFamily::weibull) {
    // For a sharp peak the difference below would be only rounding error; the logarithm is then Gumbel to the same
    // accuracy.
    if (location_or_shape > 1e4) return mean() * pi / std::sqrt(6) / location_or_shape;
    const double first = std::tgamma(1 + 1 / location_or_shape);
    return scale * std::sqrt(std::tgamma(1 + 2 / location_or_shape) - first * first);
  }
  return scale * pi / std::sqrt(6);
}

Result<std::vector<Fit>> fit_all(std::span<const double> samples_ns) {
  if (auto error = unfit(samples_ns)) return *std::move(error);
  std::vector<Fit> fits{fit_normal(samples_ns), fit_weibull(samples_ns), fit_gumbel(samples_ns)};
  constexpr double kParameters = 2;  // the same for every family, so that likelihoods decide the order
  for (Fit& fit : fits)
    fit.bic = kParameters * std::log(static_cast<double>(samples_ns.size())) - 2 * fit.log_likelihood;
  std::sort(fits.begin(), fits.end(), [](const Fit& a, const Fit& b) { return a.bic < b.bic; });
  return fits;
}

}  // namespace parshall::lab
