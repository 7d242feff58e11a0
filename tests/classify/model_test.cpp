// SPDX-License-Identifier: Apache-2.0
#include "classify/model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "classify/registry.hpp"
#include "reference.hpp"

namespace parshall {
namespace {

TEST(MostLikely, IsTheGreatestAndOfSeveralAlikeTheFirst) {
  EXPECT_EQ(most_likely(std::vector{0.2, 0.5, 0.3}, 0), 1);
  EXPECT_EQ(most_likely(std::vector{0.2, 0.4, 0.4}, 0), 1);
  EXPECT_EQ(most_likely(std::vector{0.3, 0.1 + 0.2}, 0), 0);
}

TEST(MostLikely, IsUnknownBelowRejectAndOfNone) {
  EXPECT_EQ(most_likely(std::vector{0.4, 0.6}, 0.6), 1);
  EXPECT_EQ(most_likely(std::vector{0.4, 0.6}, 0.7), kUnknownClass);
  EXPECT_EQ(most_likely(std::vector{0.0, 0.0}, 0), kUnknownClass);
  EXPECT_EQ(most_likely(std::vector<double>{}, 0), kUnknownClass);
}

TEST(Predict, IsClassifyOfWholeFlowsAndMostLikelyOfOthers) {
  const Samples samples = reference::samples_of("missing");
  for (const ModelKind& kind : model_kinds()) {
    const auto model = kind.train(samples, {.reject = 0.7});
    const auto predicted = predict(*model, samples);
    std::vector<ClassId> classified(samples.size());
    model->classify(samples.sizes, classified);
    std::vector<double> probabilities(samples.class_names.size());
    std::size_t missing = 0;
    for (std::size_t flow = 0; flow < samples.size(); ++flow) {
      const auto sizes = samples.sizes_of(flow);
      model->probabilities(sizes, probabilities);
      const bool is_whole = std::ranges::find(sizes, Samples::kMissing) == sizes.end();
      missing += !is_whole;
      ASSERT_EQ(predicted[flow], is_whole ? classified[flow] : most_likely(probabilities, 0.7)) << flow;
    }
    EXPECT_GT(missing, 100u);
  }
}

}  // namespace
}  // namespace parshall
