// SPDX-License-Identifier: Apache-2.0
#include "classify/naive_bayes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "reference.hpp"

namespace parshall {
namespace {

using Normal = NaiveBayes::Normal;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

ModelHead head_of(std::size_t packets, std::size_t classes, double reject = 0, std::uint16_t longest = 1500) {
  ModelHead head{.packets = packets, .longest = longest, .reject = reject};
  for (std::size_t id = 0; id < classes; ++id) head.classes.push_back("app" + std::to_string(id));
  return head;
}

std::vector<Normal> random_normals(std::size_t count, SplitMix64& random) {
  std::vector<Normal> normals;
  for (std::size_t i = 0; i < count; ++i)
    normals.push_back({1500 * random.uniform(), random.below(4) == 0 ? 1 / 12.0 : 1 + 40000 * random.uniform()});
  return normals;
}

/// As the densities themselves say, summed in the order of packets.
std::vector<double> direct_sums(const NaiveBayes& model, std::span<const std::uint16_t> sizes) {
  std::vector<double> sums;
  for (std::size_t id = 0; id < model.classes().size(); ++id) {
    double sum = model.priors().empty() ? 0 : std::log(model.priors()[id]);
    for (std::size_t packet = 0; packet < model.packets(); ++packet) {
      const auto [mean, variance] = model.normals()[id * model.packets() + packet];
      const double distance = std::min(sizes[packet], model.longest()) - mean;
      sum += -0.5 * std::log(2 * std::numbers::pi * variance) - distance * distance / (2 * variance);
    }
    sums.push_back(sum);
  }
  return sums;
}

ClassId direct_class(const NaiveBayes& model, std::span<const std::uint16_t> sizes) {
  const auto sums = direct_sums(model, sizes);
  return static_cast<ClassId>(std::ranges::max_element(sums) - sums.begin());
}

ClassId class_of(const Model& model, const std::vector<std::uint16_t>& sizes) {
  ClassId id = kNotClassified;
  model.classify(sizes, {&id, 1});
  return id;
}

std::vector<double> probabilities_of(const Model& model, const std::vector<std::uint16_t>& sizes) {
  std::vector<double> probabilities(model.classes().size());
  model.probabilities(sizes, probabilities);
  return probabilities;
}

std::vector<std::uint16_t> random_sizes(std::size_t count, std::uint64_t below, SplitMix64& random) {
  std::vector<std::uint16_t> sizes(count);
  for (std::uint16_t& size : sizes) size = static_cast<std::uint16_t>(random.below(below));
  return sizes;
}

void expect_direct(const NaiveBayes& model, const std::vector<std::uint16_t>& sizes) {
  std::vector<ClassId> ids(sizes.size() / model.packets());
  model.classify(sizes, ids);
  for (std::size_t flow = 0; flow < ids.size(); ++flow)
    ASSERT_EQ(ids[flow], direct_class(model, std::span(sizes).subspan(flow * model.packets(), model.packets())));
}

TEST(NaiveBayes, TablesSayWhatTheDensitiesSayOfAMillionQuadruples) {
  SplitMix64 random(1);
  for (const std::size_t classes : {2, 7, 8, 10, 17}) {
    const NaiveBayes model(head_of(4, classes), random_normals(classes * 4, random), {});
    expect_direct(model, random_sizes(4 * 200'000, 1600, random));
  }
}

TEST(NaiveBayes, TablesSayWhatTheDensitiesSayWithPriors) {
  SplitMix64 random(2);
  std::vector<double> priors(10);
  for (double& prior : priors) prior = random.uniform() / 10;
  const NaiveBayes model(head_of(4, 10), random_normals(40, random), priors);
  expect_direct(model, random_sizes(4 * 1'000'000, 1600, random));
}

TEST(NaiveBayes, TablesSayWhatTheDensitiesSayOfAnyNumberOfPackets) {
  SplitMix64 random(3);
  for (std::size_t packets = 1; packets <= kMostFirstPackets; ++packets)
    expect_direct(NaiveBayes(head_of(packets, 5), random_normals(5 * packets, random), {}),
                  random_sizes(packets * 1000, 1501, random));
}

TEST(NaiveBayes, TakesEverySizeFrom0To65535AndLongerOnesForTheLongest) {
  SplitMix64 random(4);
  for (const std::uint16_t longest : std::vector<std::uint16_t>{1, 1500, 65535}) {
    const NaiveBayes model(head_of(1, 12, 0, longest), random_normals(12, random), {});
    std::vector<std::uint16_t> sizes(65536);
    std::iota(sizes.begin(), sizes.end(), std::uint16_t{0});
    expect_direct(model, sizes);
    EXPECT_EQ(class_of(model, {65535}), class_of(model, {longest}));
  }
}

TEST(NaiveBayes, ClassifiesAFlowAsInABatchOfAnySize) {
  SplitMix64 random(5);
  const NaiveBayes model(head_of(4, 10), random_normals(40, random), {});
  for (std::size_t flows = 0; flows < 40; ++flows) expect_direct(model, random_sizes(4 * flows, 1600, random));
}

TEST(NaiveBayes, PermutesItsAnswersAsItsClassesArePermuted) {
  SplitMix64 random(6);
  const auto normals = random_normals(11 * 4, random);
  std::vector<std::size_t> order(11);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::shuffle(order, random);
  std::vector<Normal> permuted;
  for (const std::size_t id : order) permuted.insert(permuted.end(), &normals[id * 4], &normals[id * 4] + 4);
  const NaiveBayes before(head_of(4, 11), normals, {}), after(head_of(4, 11), permuted, {});
  for (int flow = 0; flow < 20'000; ++flow) {
    const auto sizes = random_sizes(4, 1600, random);
    ASSERT_EQ(class_of(before, sizes), order[class_of(after, sizes)]);
  }
}

TEST(NaiveBayes, TakesTheLowestNumberOfClassesThatAreAlike) {
  SplitMix64 random(7);
  const auto one = random_normals(4, random);
  for (const std::size_t classes : {2, 9, 30}) {
    std::vector<Normal> normals;
    for (std::size_t id = 0; id < classes; ++id)
      for (const Normal& normal : one) normals.push_back({normal.mean + (id == 0 ? 700 : 0), normal.variance});
    const NaiveBayes model(head_of(4, classes), normals, {});
    EXPECT_EQ(class_of(model, {static_cast<std::uint16_t>(one[0].mean), static_cast<std::uint16_t>(one[1].mean),
                               static_cast<std::uint16_t>(one[2].mean), static_cast<std::uint16_t>(one[3].mean)}),
              1);
  }
  const NaiveBayes mirrored(head_of(1, 2), {{100, 9}, {200, 9}}, {});
  EXPECT_EQ(class_of(mirrored, {149}), 0);
  EXPECT_EQ(class_of(mirrored, {150}), 0);
  EXPECT_EQ(class_of(mirrored, {151}), 1);
}

TEST(NaiveBayes, RejectsFlowsWhoseLikeliestClassIsNotLikelyEnough) {
  SplitMix64 random(8);
  for (const std::size_t classes : {1, 2, 10, 60})
    for (const double reject : {0.1, 0.5, 0.8, 0.999, 1.0}) {
      const NaiveBayes model(head_of(2, classes, reject), random_normals(2 * classes, random), {});
      std::size_t unknown = 0;
      for (int flow = 0; flow < 2000; ++flow) {
        auto sizes = random_sizes(2, 1500, random);
        for (std::uint16_t& size : sizes) ++size;  // 0 is a missing one
        const double likeliest = std::ranges::max(probabilities_of(model, sizes));
        if (std::abs(likeliest - reject) < 1e-12 && likeliest < 1) continue;
        const ClassId id = class_of(model, sizes);
        ASSERT_EQ(id, likeliest >= reject ? direct_class(model, sizes) : kUnknownClass) << likeliest;
        unknown += id == kUnknownClass;
      }
      EXPECT_GE(unknown, classes == 10 && reject == 0.8 ? 100u : 0u);
      EXPECT_LE(unknown, classes == 1 ? 0u : 2000u);
    }
}

TEST(NaiveBayes, GivesTheHandWorkedProbabilities) {
  // Densities at 100: 1/sqrt(2 pi 4) and exp(-2)/sqrt(2 pi 4).
  const NaiveBayes alike(head_of(1, 2), {{100, 4}, {104, 4}}, {}),
      weighed(head_of(1, 2), {{100, 4}, {104, 4}}, {0.2, 0.8});
  EXPECT_NEAR(probabilities_of(alike, {100})[0], 1 / (1 + std::exp(-2)), 1e-15);
  EXPECT_NEAR(probabilities_of(weighed, {100})[0], 0.2 / (0.2 + 0.8 * std::exp(-2)), 1e-15);
}

TEST(NaiveBayes, LeavesMissingSizesOut) {
  Samples samples{.packets = 2};
  const std::uint16_t flows[][2] = {{100, 0}, {110, 300}, {120, 310}, {500, 600}, {510, 0}, {520, 0}};
  for (std::size_t flow = 0; flow < 6; ++flow) samples.add(flows[flow], flow < 3 ? "a" : "b", "capture");
  const auto model = NaiveBayes::train(samples, {});
  const auto normals = dynamic_cast<const NaiveBayes&>(*model).normals();
  EXPECT_EQ(normals[0].mean, 110);
  EXPECT_NEAR(normals[0].variance, 200 / 3.0, 1e-12);
  EXPECT_EQ(normals[1].mean, 305);
  EXPECT_EQ(normals[1].variance, 25);
  EXPECT_EQ(normals[3].mean, 600);
  EXPECT_EQ(normals[3].variance, 1 / 12.0);
  EXPECT_EQ(probabilities_of(*model, {0, 0}), (std::vector<double>{0.5, 0.5}));
  const NaiveBayes first_only(head_of(1, 2), {normals[0], normals[2]}, {});
  EXPECT_EQ(probabilities_of(*model, {115, 0}), probabilities_of(first_only, {115}));
}

TEST(NaiveBayes, NeverTakesAFlowForAClassThatTrainingLacked) {
  Samples samples{.packets = 2, .class_names = {"absent", "ends after one", "whole"}};
  for (const std::uint16_t size : std::vector<std::uint16_t>{100, 101, 102}) {
    samples.add(std::vector<std::uint16_t>{size, 0}, "ends after one", "capture");
    samples.add(std::vector<std::uint16_t>{static_cast<std::uint16_t>(size + 900), 500}, "whole", "capture");
  }
  for (const bool use_priors : {false, true}) {
    const auto model = NaiveBayes::train(samples, {.use_priors = use_priors});
    EXPECT_EQ(class_of(*model, {101, 500}), 2);
    EXPECT_GT(probabilities_of(*model, {101, 0})[1], 0.9);
    EXPECT_EQ(probabilities_of(*model, {101, 0})[0], 0);
  }
}

TEST(NaiveBayes, KnowsNoClassWhereTrainingHadNone) {
  const auto model = NaiveBayes::train(Samples{.packets = 3, .class_names = {"a", "b"}}, {.use_priors = true});
  EXPECT_EQ(class_of(*model, {60, 60, 60}), kUnknownClass);
  EXPECT_EQ(probabilities_of(*model, {60, 60, 60}), (std::vector<double>{0, 0}));
}

TEST(NaiveBayes, TellsClassesOfOneSizeEachByAnyFloor) {
  Samples samples{.packets = 1};
  for (const std::uint16_t size : std::vector<std::uint16_t>{40, 40, 60, 60})
    samples.add({&size, 1}, size == 40 ? "syn" : "options", "capture");
  for (const double floor : {0.0, 1 / 12.0, 100.0}) {
    const auto model = NaiveBayes::train(samples, {.variance_floor = floor});
    EXPECT_EQ(class_of(*model, {40}), 0) << floor;
    EXPECT_EQ(class_of(*model, {60}), 1) << floor;
    for (const double probability : probabilities_of(*model, {51})) EXPECT_FALSE(std::isnan(probability)) << floor;
  }
}

TEST(NaiveBayes, RaisesVariancesBelowTheFloorOnly) {
  Samples samples{.packets = 2};
  samples.add(std::vector<std::uint16_t>{100, 100}, "a", "capture");
  samples.add(std::vector<std::uint16_t>{104, 101}, "a", "capture");
  const auto model = NaiveBayes::train(samples, {.variance_floor = 1});
  const auto normals = dynamic_cast<const NaiveBayes&>(*model).normals();
  EXPECT_EQ(normals[0].variance, 4);
  EXPECT_EQ(normals[1].variance, 1);
}

TEST(NaiveBayes, HasExactVariancesOfManyLongPackets) {
  Samples samples{.packets = 1};
  for (int flow = 0; flow < 1'000'000; ++flow)
    samples.add(std::vector<std::uint16_t>{static_cast<std::uint16_t>(65534 + flow % 2)}, "a", "capture");
  const auto model = NaiveBayes::train(samples, {.longest = 65535, .variance_floor = 0});
  EXPECT_EQ(dynamic_cast<const NaiveBayes&>(*model).normals()[0].mean, 65534.5);
  EXPECT_EQ(dynamic_cast<const NaiveBayes&>(*model).normals()[0].variance, 0.25);
}

TEST(NaiveBayes, RefusesATableOfAbsurdSize) {
  ModelHead head = head_of(16, 1024, 0, 65535);
  EXPECT_GT(NaiveBayes::table_bytes(16, 65535, 1024), NaiveBayes::kMostTableBytes);
  EXPECT_THROW(NaiveBayes(std::move(head), std::vector<Normal>(16 * 1024, {kNaN, kNaN}), {}), std::length_error);
}

class NaiveBayesOfScikitLearn : public ::testing::TestWithParam<std::string> {};

TEST_P(NaiveBayesOfScikitLearn, HasTheSameMeansAndVariances) {
  const Samples samples = reference::samples_of(GetParam());
  const auto answers = reference::answers_of(GetParam(), "bayes");
  const auto model = NaiveBayes::train(samples, {.variance_floor = 0});
  const auto normals = dynamic_cast<const NaiveBayes&>(*model).normals();
  const std::size_t classes = samples.class_names.size();
  for (std::size_t i = 0; i < normals.size(); ++i) {
    const auto &theta = answers[i / samples.packets], &var = answers[classes + i / samples.packets];
    ASSERT_EQ(theta[0] + var[0], "thetavar");
    const double mean = std::stod(theta[1 + i % samples.packets]), variance = std::stod(var[1 + i % samples.packets]);
    EXPECT_NEAR(normals[i].mean, mean, 1e-9 * mean);
    EXPECT_NEAR(normals[i].variance, variance, 1e-9 * variance + NaiveBayes::kLeastVariance);
  }
}

TEST_P(NaiveBayesOfScikitLearn, PredictsTheSameClasses) {
  const Samples samples = reference::samples_of(GetParam());
  const auto answers = reference::answers_of(GetParam(), "bayes");
  std::vector<ClassId> predicted(samples.size());
  for (const bool use_priors : {false, true}) {
    const auto& expected = answers[answers.size() - (use_priors ? 1 : 2)];
    ASSERT_EQ(expected[0], use_priors ? "empirical" : "uniform");
    ASSERT_EQ(expected.size(), samples.size() + 1);
    NaiveBayes::train(samples, {.use_priors = use_priors})->classify(samples.sizes, predicted);
    for (std::size_t flow = 0; flow < samples.size(); ++flow)
      ASSERT_TRUE(expected[flow + 1] == "-1" || predicted[flow] == std::stoul(expected[flow + 1])) << "flow " << flow;
  }
}

INSTANTIATE_TEST_SUITE_P(OfEachSet, NaiveBayesOfScikitLearn, ::testing::ValuesIn(reference::kSets),
                         [](const auto& of) { return of.param; });

}  // namespace
}  // namespace parshall
