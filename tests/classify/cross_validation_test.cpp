// SPDX-License-Identifier: Apache-2.0
#include "classify/cross_validation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "reference.hpp"

namespace parshall {
namespace {

using ::testing::HasSubstr;

/// Captures of random sizes and classes; in half of the cases of one class each.
Samples random_samples(std::uint64_t seed) {
  SplitMix64 random(seed);
  Samples samples{.packets = 1};
  const std::uint64_t captures = 5 + random.below(60), classes = 1 + random.below(8), largest = 1 + random.below(50);
  for (std::uint64_t capture = 0; capture < captures; ++capture) {
    const std::uint64_t of_all = random.below(classes);
    for (std::uint64_t flow = random.below(largest) + 1; flow > 0; --flow) {
      const std::uint16_t size = 60;
      const std::uint64_t of = seed % 2 == 0 ? of_all : random.below(classes);
      samples.add({&size, 1}, "app" + std::to_string(of), "capture" + std::to_string(capture));
    }
  }
  return samples;
}

TEST(FoldsOf, NeverPartACaptureAndLeaveNoFoldEmpty) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Samples samples = random_samples(seed);
    const auto count = static_cast<std::uint32_t>(2 + seed % 4);
    const auto folds = folds_of(samples, count, seed);
    ASSERT_TRUE(folds) << folds.error().message;
    std::map<std::uint32_t, std::uint32_t> fold_of_capture;
    for (std::size_t flow = 0; flow < samples.size(); ++flow)
      ASSERT_EQ(fold_of_capture.try_emplace(samples.captures[flow], (*folds)[flow]).first->second, (*folds)[flow]);
    const std::set<std::uint32_t> used(folds->begin(), folds->end());
    EXPECT_EQ(used.size(), count);
    EXPECT_LT(*used.rbegin(), count);
  }
}

TEST(FoldsOf, DifferByNoMoreFlowsOfAClassThanItsLargestCaptureHas) {
  for (std::uint64_t seed = 0; seed < 300; seed += 2) {  // captures of one class
    const Samples samples = random_samples(seed);
    const auto folds = folds_of(samples, 5, seed);
    std::map<std::uint32_t, std::size_t> flows_of_capture;
    for (const std::uint32_t capture : samples.captures) ++flows_of_capture[capture];
    std::vector<std::size_t> largest(samples.class_names.size());
    std::vector<std::vector<std::size_t>> flows(samples.class_names.size(), std::vector<std::size_t>(5));
    for (std::size_t flow = 0; flow < samples.size(); ++flow) {
      const ClassId id = samples.classes[flow];
      ++flows[id][(*folds)[flow]];
      largest[id] = std::max(largest[id], flows_of_capture[samples.captures[flow]]);
    }
    for (std::size_t id = 0; id < flows.size(); ++id)
      EXPECT_LE(std::ranges::max(flows[id]) - std::ranges::min(flows[id]), largest[id]) << "seed " << seed;
  }
}

TEST(FoldsOf, HaveAboutAsManyFlowsAndFlowsOfAClassThoughCapturesAreMixed) {
  Samples samples{.packets = 1};
  SplitMix64 random(3);
  for (int capture = 0; capture < 100; ++capture)
    for (int flow = 0; flow < 40; ++flow) {
      const std::uint16_t size = 60;
      samples.add({&size, 1}, random.below(10) == 0 ? "rare" : "common", "capture" + std::to_string(capture));
    }
  const auto folds = folds_of(samples, 5, 1);
  std::vector<double> all(5), rare(5);
  for (std::size_t flow = 0; flow < samples.size(); ++flow) {
    ++all[(*folds)[flow]];
    rare[(*folds)[flow]] += samples.class_names[samples.classes[flow]] == "rare";
  }
  for (std::size_t fold = 0; fold < 5; ++fold) {
    EXPECT_NEAR(all[fold], 800, 80);
    EXPECT_NEAR(rare[fold], 80, 10);
  }
}

TEST(FoldsOf, AreFilledFromTheLargestCaptureOn) {
  Samples samples{.packets = 1};
  for (const char* const capture : {"a", "b", "c", "d", "large", "large", "large", "large"})
    samples.add(std::vector<std::uint16_t>{60}, "web", capture);
  const auto folds = folds_of(samples, 2, 1);
  EXPECT_EQ(std::ranges::count(*folds, 0u), 4);
  EXPECT_EQ(std::ranges::count(*folds, 1u), 4);
}

TEST(FoldsOf, AreTheSameForTheSameSeedOnly) {
  const Samples samples = reference::samples_of("twelve");
  EXPECT_EQ(*folds_of(samples, 4, 1), *folds_of(samples, 4, 1));
  Samples alike{.packets = 1};
  for (int capture = 0; capture < 20; ++capture)
    alike.add(std::vector<std::uint16_t>{60}, "a", std::to_string(capture));
  EXPECT_NE(*folds_of(alike, 4, 1), *folds_of(alike, 4, 2));
}

TEST(FoldsOf, NeedAsManyCapturesAsFolds) {
  Samples samples{.packets = 1, .class_names = {"a"}, .capture_names = {"of no flow"}};
  for (const char* const capture : {"x", "y", "y", "z"}) samples.add(std::vector<std::uint16_t>{60}, "a", capture);
  EXPECT_TRUE(folds_of(samples, 3, 1));
  EXPECT_THAT(folds_of(samples, 4, 1).error().message, HasSubstr("4 folds of 3 captures"));
  EXPECT_THAT(folds_of(samples, 1, 1).error().message, HasSubstr("at least 2 are needed"));
  EXPECT_THAT(folds_of(Samples{}, 2, 1).error().message, HasSubstr("2 folds of 0 captures"));
}

TEST(Confusion, IsAsCountedByHand) {
  Confusion confusion(3);
  const auto add = [&](ClassId of, ClassId predicted, int times) {
    for (; times > 0; --times) confusion.add(of, predicted);
  };
  add(0, 0, 6), add(0, 1, 1), add(0, kUnknownClass, 3);
  add(1, 1, 4), add(1, 0, 2);
  EXPECT_EQ(confusion.count(0, 0), 6u);
  EXPECT_EQ(confusion.count(0, kUnknownClass), 3u);
  EXPECT_EQ(confusion.count(1, 0), 2u);
  EXPECT_EQ(confusion.flows(), 16u);
  EXPECT_EQ(confusion.flows_of(0), 10u);
  EXPECT_EQ(confusion.taken_for(0), 8u);
  EXPECT_EQ(confusion.taken_for(kUnknownClass), 3u);
  EXPECT_EQ(confusion.accuracy(), 10 / 16.0);
  EXPECT_EQ(confusion.precision(0), 6 / 8.0);
  EXPECT_EQ(confusion.recall(0), 6 / 10.0);
  EXPECT_EQ(confusion.precision(1), 4 / 5.0);
  EXPECT_EQ(confusion.recall(1), 4 / 6.0);
  EXPECT_TRUE(std::isnan(confusion.precision(2)) && std::isnan(confusion.recall(2)));
  const ModelAccuracy summary = confusion.summary(5);
  EXPECT_EQ(summary.folds, 5u);
  EXPECT_EQ(summary.accuracy, 10 / 16.0);
  EXPECT_EQ(summary.recall[1], 4 / 6.0);
  EXPECT_TRUE(std::isnan(Confusion(2).accuracy()));
}

TEST(CrossValidation, PredictsEachFlowByAModelOfTheOtherFolds) {
  const Samples samples = reference::samples_of("missing");
  const auto folds = folds_of(samples, 4, 1);
  std::vector<double> probabilities(samples.class_names.size());
  for (const ModelKind& kind : model_kinds()) {
    const TrainingOptions options{.reject = 0.6, .use_priors = true};
    const CrossValidation result = *cross_validate(samples, *folds, kind, options);
    Confusion confusion(samples.class_names.size());
    for (std::uint32_t fold = 0; fold < 4; ++fold) {
      std::vector<bool> others(samples.size());
      for (std::size_t flow = 0; flow < samples.size(); ++flow) others[flow] = (*folds)[flow] != fold;
      const auto model = kind.train(samples.where(others), options);
      const auto predicted = predict(*model, samples);
      for (std::size_t flow = 0; flow < samples.size(); ++flow)
        if (!others[flow]) {
          ASSERT_EQ(result.predicted[flow], predicted[flow]);
          model->probabilities(samples.sizes_of(flow), probabilities);
          ASSERT_EQ(result.likeliest[flow], std::ranges::max(probabilities));
          confusion.add(samples.classes[flow], predicted[flow]);
        }
    }
    EXPECT_EQ(result.confusion.accuracy(), confusion.accuracy());
    EXPECT_GT(result.confusion.accuracy(), 0.5);
    EXPECT_EQ(result.confusion.flows(), samples.size());
  }
}

TEST(CrossValidation, NeverPredictsAClassThatTheOtherFoldsLack) {
  Samples samples{.packets = 1};
  const auto add = [&](std::uint16_t size, const char* name, const char* capture) {
    for (std::uint16_t more = 0; more < 5; ++more) {
      const auto longer = static_cast<std::uint16_t>(size + more);
      samples.add({&longer, 1}, name, capture);
    }
  };
  add(60, "a", "x"), add(1000, "b", "x");
  add(60, "a", "y"), add(1000, "b", "y"), add(500, "only in y", "y");
  const auto folds = folds_of(samples, 2, 1);
  for (const ModelKind& kind : model_kinds()) {
    const Confusion confusion = cross_validate(samples, *folds, kind, {.least_flows = 1})->confusion;
    EXPECT_EQ(confusion.taken_for(2), 0u) << kind.name;
    EXPECT_EQ(confusion.recall(2), 0) << kind.name;
    EXPECT_EQ(confusion.recall(0), 1) << kind.name;
    EXPECT_EQ(confusion.recall(1), 1) << kind.name;
  }
}

TEST(CrossValidation, KnowsNothingWhereThereIsOneFold) {
  const Samples samples = reference::samples_of("two");
  const std::vector<std::uint32_t> folds(samples.size(), 4294967295u);
  for (const ModelKind& kind : model_kinds()) {
    EXPECT_EQ(cross_validate(samples, folds, kind, {})->confusion.taken_for(kUnknownClass), samples.size());
    EXPECT_FALSE(cross_validate(samples, folds, kind, {}, [] { return true; }));
  }
}

}  // namespace
}  // namespace parshall
