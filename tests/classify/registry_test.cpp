// SPDX-License-Identifier: Apache-2.0
#include "classify/registry.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string_view>
#include <vector>

#include "reference.hpp"

namespace parshall {
namespace {

TEST(ModelKinds, HaveNamesOfTheirOwnByWhichTheyAreFound) {
  std::set<std::string_view> names;
  for (const ModelKind& kind : model_kinds()) {
    EXPECT_TRUE(names.insert(kind.name).second) << kind.name;
    EXPECT_EQ(find_model_kind(kind.name), &kind);
    EXPECT_FALSE(kind.help.empty());
  }
  EXPECT_TRUE(names.contains("naive-bayes") && names.contains("c45"));
  EXPECT_EQ(find_model_kind("oracle"), nullptr);
}

TEST(ModelKinds, TrainModelsThatAreRightAboutMostOfTheirTrainingFlows) {
  const Samples samples = reference::samples_of("mixed");
  for (const ModelKind& kind : model_kinds()) {
    const auto model = kind.train(samples, {});
    EXPECT_EQ(model->kind(), kind.name);
    EXPECT_EQ(model->packets(), samples.packets);
    const auto predicted = predict(*model, samples);
    std::size_t right = 0;
    for (std::size_t flow = 0; flow < samples.size(); ++flow) right += predicted[flow] == samples.classes[flow];
    EXPECT_GT(right, samples.size() * 8 / 10) << kind.name;
  }
}

TEST(ModelKinds, GiveProbabilitiesThatSumToOneAndAgreeWithTheClass) {
  const Samples samples = reference::samples_of("twelve");
  std::vector<double> probabilities(samples.class_names.size());
  for (const ModelKind& kind : model_kinds()) {
    const auto model = kind.train(samples, {});
    std::vector<ClassId> ids(samples.size());
    model->classify(samples.sizes, ids);
    for (std::size_t flow = 0; flow < samples.size(); ++flow) {
      model->probabilities(samples.sizes_of(flow), probabilities);
      double sum = 0;
      for (const double probability : probabilities) sum += probability;
      ASSERT_NEAR(sum, 1, 1e-12);
      ASSERT_EQ(ids[flow], most_likely(probabilities, 0)) << kind.name << ", flow " << flow;
    }
  }
}

}  // namespace
}  // namespace parshall
