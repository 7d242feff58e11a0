// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <vector>

#include "base/random.hpp"
#include "lab/profile/retrieval_fit.hpp"

namespace parshall::lab {

/// A model of this mean and coefficient of variation. Weibull's shape is found by halving.
inline RetrievalModel model_of(RetrievalFamily family, double mean, double variation) {
  if (family == RetrievalFamily::normal) return {family, mean, variation * mean};
  if (family == RetrievalFamily::gumbel) {
    const double scale = variation * mean * std::sqrt(6) / std::numbers::pi;
    return {family, mean - std::numbers::egamma * scale, scale};
  }
  double low = 0.2, high = 1000;
  for (int i = 0; i < 100; ++i) {
    const double shape = (low + high) / 2, first = std::tgamma(1 + 1 / shape);
    (std::tgamma(1 + 2 / shape) / (first * first) - 1 > variation * variation ? low : high) = shape;
  }
  return {family, low, mean / std::tgamma(1 + 1 / low)};
}

/// A draw from a model, without its quantile(): Box and Muller's method, and the inverse of the two other cdfs.
inline double draw(const RetrievalModel& model, SplitMix64& random) {
  const double exponential = -std::log(1 - random.uniform());
  if (model.family == RetrievalFamily::normal)
    return model.location_or_shape +
           model.scale * std::sqrt(2 * exponential) * std::cos(2 * std::numbers::pi * random.uniform());
  if (model.family == RetrievalFamily::weibull) return model.scale * std::pow(exponential, 1 / model.location_or_shape);
  return model.location_or_shape - model.scale * std::log(exponential);
}

/// Leaves out what is no time: 5 in a million of a Normal with the paper's greatest variation.
inline std::vector<double> draws(const RetrievalModel& model, std::uint64_t seed, std::size_t count) {
  SplitMix64 random(SplitMix64::mix(seed));
  std::vector<double> times;
  while (times.size() < count)
    if (const double time = draw(model, random); time > 0) times.push_back(time);
  return times;
}

}  // namespace parshall::lab
