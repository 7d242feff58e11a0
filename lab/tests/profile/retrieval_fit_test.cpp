// SPDX-License-Identifier: Apache-2.0
#include "lab/profile/retrieval_fit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "lab/tests/profile/retrievals.hpp"
#include "tests/thorough.hpp"

namespace parshall::lab {
namespace {

using ::testing::HasSubstr;
using enum RetrievalFamily;

constexpr RetrievalFamily kFamilies[] = {normal, weibull, gumbel};
constexpr std::pair<double, double> kPaperTimes[] = {{90, 0.11},
                                                     {200, 0.225}};  ///< mean in ns, coefficient of variation

double log_density(const RetrievalModel& model, double t) {
  const double a = model.location_or_shape, b = model.scale, z = (t - a) / b;
  if (model.family == normal) return -z * z / 2 - std::log(b * std::sqrt(2 * std::numbers::pi));
  if (model.family == gumbel) return -z - std::exp(-z) - std::log(b);
  return std::log(a / b) + (a - 1) * std::log(t / b) - std::pow(t / b, a);
}

double log_likelihood(const RetrievalModel& model, const std::vector<double>& samples) {
  double sum = 0;
  for (const double t : samples) sum += log_density(model, t);
  return sum;
}

Fit fit_of(RetrievalFamily family, const std::vector<double>& samples) {
  const auto fits = fit_all(samples);
  if (!fits) throw std::runtime_error(fits.error().message);
  return *std::find_if(fits->begin(), fits->end(), [&](const Fit& fit) { return fit.model.family == family; });
}

/// Standard errors of the two parameters, from the families' Fisher information.
std::pair<double, double> standard_errors(const RetrievalModel& model, double n) {
  const double a = model.location_or_shape, b = model.scale;
  const double sharpness = std::sqrt(6) / std::numbers::pi;
  const double location = std::sqrt(1 + 6 * std::pow((1 - std::numbers::egamma) / std::numbers::pi, 2));
  if (model.family == normal) return {b / std::sqrt(n), b / std::sqrt(2 * n)};
  if (model.family == gumbel) return {location * b / std::sqrt(n), sharpness * b / std::sqrt(n)};
  return {sharpness * a / std::sqrt(n), location * b / a / std::sqrt(n)};
}

// Lieblein and Zelen, J. Res. NBS 57, 1956: lives of 23 ball bearings. Leemis, Reliability, 2009, and many others fit
// them with Weibull: shape 2.10, scale 81.88, log-likelihood -113.69. All digits from mpmath's root of the score.
TEST(RetrievalFit, PublishedDataHaveTheirKnownFits) {
  const std::vector<double> lives{17.88, 28.92, 33.00,  41.52,  42.12,  45.60,  48.48, 51.84,
                                  51.96, 54.12, 55.56,  67.80,  68.64,  68.64,  68.88, 84.12,
                                  93.12, 98.64, 105.12, 105.84, 127.92, 128.04, 173.40};
  const Fit known[] = {{{gumbel, 55.6618940077, 27.77357984937}, -113.1697442501, 232.610476932},
                       {{weibull, 2.102058875195, 81.87833405163}, -113.6912909323, 233.6535702965},
                       {{normal, 72.22434782609, 36.6646693848}, -115.477299163, 237.2255867579}};
  const auto fits = fit_all(lives);
  ASSERT_TRUE(fits);
  ASSERT_EQ(fits->size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    const Fit& fit = (*fits)[i];
    EXPECT_EQ(fit.model.family, known[i].model.family) << "the best comes first";
    EXPECT_NEAR(fit.model.location_or_shape, known[i].model.location_or_shape, 1e-9);
    EXPECT_NEAR(fit.model.scale, known[i].model.scale, 1e-9);
    EXPECT_NEAR(fit.log_likelihood, known[i].log_likelihood, 1e-9);
    EXPECT_NEAR(fit.bic, known[i].bic, 1e-9);
  }
}

TEST(RetrievalFit, ParametersAreRecoveredWithinTheirStandardErrors) {
  constexpr std::size_t kSamples = 100'000;
  for (const RetrievalFamily family : kFamilies)
    for (const auto& [mean, variation] : kPaperTimes)
      for (std::uint64_t seed = 0; seed < (thorough() ? 5 : 2); ++seed) {
        const RetrievalModel truth = model_of(family, mean, variation);
        const RetrievalModel found = fit_of(family, draws(truth, seed, kSamples)).model;
        const auto [first, second] = standard_errors(truth, kSamples);
        EXPECT_NEAR(found.location_or_shape, truth.location_or_shape, 4 * first);
        EXPECT_NEAR(found.scale, truth.scale, 4 * second);
        EXPECT_NEAR(found.mean(), mean, 5 * variation * mean / std::sqrt(kSamples));
        EXPECT_NEAR(found.sd(), variation * mean, 0.02 * variation * mean);
      }
}

TEST(RetrievalFit, TheRightFamilyIsChosenIn99Of100Draws) {
  for (const RetrievalFamily family : kFamilies)
    for (const auto& [mean, variation] : kPaperTimes) {
      int right = 0;
      for (std::uint64_t seed = 0; seed < 100; ++seed) {
        const auto fits = fit_all(draws(model_of(family, mean, variation), 1000 + seed, 10'000));
        ASSERT_TRUE(fits);
        right += fits->front().model.family == family;
      }
      EXPECT_GE(right, 99) << "family " << static_cast<int>(family) << ", variation " << variation;
    }
}

TEST(RetrievalFit, NoPointNearOrFarIsMoreLikely) {
  for (const RetrievalFamily drawn : kFamilies)
    for (const RetrievalFamily fitted : kFamilies) {
      const std::vector<double> samples = draws(model_of(drawn, 200, 0.225), 7, 2000);
      const Fit fit = fit_of(fitted, samples);
      EXPECT_NEAR(fit.log_likelihood, log_likelihood(fit.model, samples), 1e-7);
      const auto at = [&](double first, double second) {
        RetrievalModel moved = fit.model;
        moved.location_or_shape *= first, moved.scale *= second;
        return log_likelihood(moved, samples);
      };
      for (const double first : {0.5, 0.8, 0.99, 0.999, 1.0, 1.001, 1.01, 1.2, 2.0})
        for (const double second : {0.5, 0.8, 0.99, 0.999, 1.0, 1.001, 1.01, 1.2, 2.0})
          EXPECT_LT(at(first, second), fit.log_likelihood + (first == 1 && second == 1)) << first << " " << second;
      constexpr double kStep = 1e-5;
      EXPECT_NEAR((at(1 + kStep, 1) - at(1 - kStep, 1)) / (2 * kStep), 0, 1e-2)
          << "it is some 500 where a parameter is 1 % off";
      EXPECT_NEAR((at(1, 1 + kStep) - at(1, 1 - kStep)) / (2 * kStep), 0, 1e-2);
    }
}

TEST(RetrievalFit, AnotherUnitOfTimeScalesTheFit) {
  constexpr std::size_t kCount = 5000;
  for (const RetrievalFamily family : kFamilies) {
    const std::vector<double> samples = draws(model_of(family, 100, 0.15), 3, kCount);
    for (const double unit : {0.02, 1e7}) {
      std::vector<double> scaled;
      for (const double t : samples) scaled.push_back(t * unit);
      for (const RetrievalFamily fitted : kFamilies) {
        const Fit one = fit_of(fitted, samples), other = fit_of(fitted, scaled);
        EXPECT_NEAR(other.model.location_or_shape / one.model.location_or_shape, fitted == weibull ? 1 : unit,
                    1e-9 * unit);
        EXPECT_NEAR(other.model.scale / one.model.scale, unit, 1e-9 * unit);
        EXPECT_NEAR(other.log_likelihood, one.log_likelihood - kCount * std::log(unit), 1e-5);
      }
    }
  }
}

/// An interrupt among hits, a coarse clock, all orders of magnitude, next to no spread.
TEST(RetrievalFit, OddSamplesAreFittedToo) {
  std::vector<double> interrupted = draws(model_of(gumbel, 90, 0.11), 1, 10'000), coarse, wide, sharp;
  for (const double t : interrupted) coarse.push_back(20 * std::round(t / 20));
  for (int i = 0; i <= 900; ++i) wide.push_back(std::pow(10, i / 100.0));
  for (int i = 0; i < 1000; ++i) sharp.push_back(1e9 + i);
  interrupted.push_back(1e9);
  for (const auto& samples : {interrupted, coarse, wide, sharp})
    for (const RetrievalFamily family : kFamilies) {
      const Fit fit = fit_of(family, samples);
      EXPECT_NEAR(fit.log_likelihood, log_likelihood(fit.model, samples), 1e-6 * std::fabs(fit.log_likelihood));
      for (const double factor : {0.9, 0.999, 1.001, 1.1}) {
        RetrievalModel other = fit.model, wider = fit.model;
        other.location_or_shape *= factor, wider.scale *= factor;
        EXPECT_LT(log_likelihood(other, samples), fit.log_likelihood);
        EXPECT_LT(log_likelihood(wider, samples), fit.log_likelihood);
      }
    }
}

TEST(RetrievalFit, BadSamplesAreRefusedWithTheReason) {
  const std::vector<double> good = draws(model_of(gumbel, 90, 0.11), 1, kFewestRetrievals);
  EXPECT_TRUE(fit_all(good));
  const auto refusal = [](std::vector<double> samples) {
    const auto fits = fit_all(samples);
    return fits ? "accepted" : fits.error().message;
  };
  EXPECT_THAT(refusal({good.begin(), good.end() - 1}), HasSubstr("19 samples are too few; at least 20 are needed"));
  EXPECT_THAT(refusal({}), HasSubstr("too few"));
  for (const double bad : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    std::vector<double> samples = good;
    samples[13] = bad;
    EXPECT_THAT(refusal(samples), HasSubstr("sample 13 is ")) << bad;
  }
  EXPECT_THAT(refusal(std::vector<double>(50, 90.0)), HasSubstr("all 50 samples are 90 ns"));
}

TEST(RetrievalModel, QuantileInvertsTheCdfWhoseComplementIsSurvival) {
  for (const RetrievalFamily family : kFamilies)
    for (const auto& [mean, variation] : kPaperTimes) {
      const RetrievalModel model = model_of(family, mean, variation);
      for (const double p : {1e-12, 1e-6, 0.001, 0.1, 0.25, 0.5, 0.75, 0.9, 0.999}) {
        EXPECT_NEAR(model.cdf(model.quantile(p)) / p, 1, 1e-11) << p;
        EXPECT_NEAR(model.survival(model.quantile(p)), 1 - p, 1e-14) << p;
      }
      const double far = mean * (1 + 8 * variation);
      EXPECT_NEAR(model.survival(far), 1 - model.cdf(far), 1e-15);
      EXPECT_GT(model.survival(far), 0);
      for (const double t : {0.7 * mean, mean, 1.4 * mean})
        EXPECT_NEAR((model.cdf(t + 1e-3) - model.cdf(t - 1e-3)) / 2e-3, std::exp(log_density(model, t)), 1e-10) << t;
    }
}

TEST(RetrievalModel, HasTheValuesOfTables) {
  const RetrievalModel standard{normal, 0, 1};
  EXPECT_NEAR(standard.quantile(0.975), 1.959963984540054, 1e-14);
  EXPECT_NEAR(standard.quantile(0.001), -3.090232306167814, 1e-14);
  EXPECT_NEAR(standard.survival(10) / 7.619853024160526e-24, 1, 1e-12);
  const RetrievalModel maxima{gumbel, 100, 10};
  EXPECT_NEAR(maxima.mean(), 100 + 0.5772156649 * 10, 1e-8);
  EXPECT_NEAR(maxima.sd(), 10 * 3.14159265358979 / 2.44948974278318, 1e-12);
  EXPECT_NEAR(maxima.survival(600) / std::exp(-50), 1, 1e-12);
  EXPECT_NEAR(maxima.cdf(100), std::exp(-1), 1e-15);
  EXPECT_GT(maxima.survival(140), 10 * maxima.cdf(60)) << "the tail is to the right";
  const RetrievalModel exponential{weibull, 1, 50}, steep{weibull, 2.102058875195, 81.87833405163};
  EXPECT_NEAR(exponential.mean(), 50, 1e-12);
  EXPECT_NEAR(exponential.sd(), 50, 1e-12);
  EXPECT_NEAR(exponential.survival(2500) / std::exp(-50), 1, 1e-12);
  EXPECT_EQ(exponential.cdf(-1), 0);
  EXPECT_EQ(exponential.survival(-1), 1);
  EXPECT_NEAR(steep.mean(), 72.51865177561, 1e-9);
  EXPECT_NEAR(steep.sd(), 36.24832851915, 1e-9);
  EXPECT_NEAR(RetrievalModel({weibull, 1e4, 1}).sd(), 1.282382110091e-4, 1e-11);
  EXPECT_NEAR(RetrievalModel({weibull, 1e8, 1}).sd(), 1.282549815e-8, 1e-14);
}

}  // namespace
}  // namespace parshall::lab
