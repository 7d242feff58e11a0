// SPDX-License-Identifier: Apache-2.0
#include "classify/model_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "classify/registry.hpp"
#include "model_texts.hpp"
#include "reference.hpp"

namespace parshall {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

TEST(ModelFile, IsReadAsWritten) {
  const auto bayes = parse_model(kBayes, "m.toml");
  ASSERT_TRUE(bayes) << bayes.error().message;
  EXPECT_EQ(bayes->model->packets(), 2u);
  EXPECT_EQ(bayes->model->longest(), 1500);
  EXPECT_EQ(bayes->model->reject(), 0.5);
  EXPECT_EQ(bayes->model->classes()[1], "web");
  EXPECT_EQ(bayes->origin.date, "2026-11-22");
  EXPECT_EQ(bayes->origin.command, "parshall train");
  EXPECT_EQ(bayes->origin.captures, 3u);
  EXPECT_EQ(bayes->origin.flows, (std::vector<std::uint64_t>{10, 20}));
  EXPECT_EQ(bayes->origin.accuracy.folds, 5u);
  EXPECT_EQ(bayes->origin.accuracy.accuracy, 0.75);
  EXPECT_EQ(bayes->origin.accuracy.precision[0], 0.5);
  EXPECT_TRUE(std::isnan(bayes->origin.accuracy.precision[1]));
  EXPECT_EQ(bayes->origin.accuracy.recall, (std::vector<double>{1, 0}));
  const auto tree = parse_model(kTree, "m.toml");
  ASSERT_TRUE(tree) << tree.error().message;
  EXPECT_EQ(tree->origin.accuracy.folds, 0u);
}

TEST(ModelFile, KeepsEveryDigitOfModelsOfAllKinds) {
  for (const std::string& set : reference::kSets) {
    const Samples samples = reference::samples_of(set);
    ModelOrigin origin{
        .date = "a \"date\"", .command = "parshall train \\ \t", .captures = 7, .flows = samples.flows_by_class()};
    origin.accuracy = {.folds = 3, .accuracy = 1 / 3.0};
    origin.accuracy.precision.assign(samples.class_names.size(), 2 / 3.0);
    origin.accuracy.recall.assign(samples.class_names.size(), kNotANumber);
    for (const ModelKind& kind : model_kinds())
      for (const bool use_priors : {false, true}) {
        const auto model = kind.train(samples, {.reject = 1 / 7.0, .use_priors = use_priors});
        const std::string toml = to_toml(*model, origin);
        const auto again = parse_model(toml, set);
        ASSERT_TRUE(again) << again.error().message;
        EXPECT_EQ(to_toml(*again->model, again->origin), toml);
        EXPECT_EQ(predict(*again->model, samples), predict(*model, samples));
        EXPECT_EQ(again->model->kind(), kind.name);
        EXPECT_EQ(again->origin.flows, origin.flows);
        EXPECT_EQ(again->origin.command, origin.command);
      }
  }
}

TEST(ModelFile, KeepsClassNamesThatAreNoPlainWords) {
  Samples samples{.packets = 1};
  const std::uint16_t small = 60, large = 1500;
  for (int twice = 0; twice < 2; ++twice) {
    samples.add({&small, 1}, "a = [c] # {d}", "capture");
    samples.add({&large, 1}, "Zürich . 日本", "capture");
  }
  for (const ModelKind& kind : model_kinds()) {
    const auto model = kind.train(samples, {});
    const auto again = parse_model(to_toml(*model, {.flows = samples.flows_by_class()}), "m.toml");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->model->classes()[0], samples.class_names[0]);
    EXPECT_EQ(predict(*again->model, samples), predict(*model, samples));
  }
}

class OnDisk : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  const std::string folder_ = ::testing::TempDir() + "model_file_test";
  const std::string path_ = folder_ + "/m.toml";
};

TEST_F(OnDisk, AModelIsReadAsItWasWritten) {
  const auto before = parse_model(kTree, "m.toml");
  const auto text = model_text(*before->model, before->origin);
  ASSERT_TRUE(text) << text.error().message;
  std::ofstream(path_) << *text;
  const auto after = read_model_file(path_);
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_EQ(to_toml(*after->model, after->origin), to_toml(*before->model, before->origin));
  const auto model = read_model(path_);
  ASSERT_TRUE(model);
  EXPECT_EQ((*model)->kind(), "c45");
}

TEST_F(OnDisk, ErrorsNameTheFile) {
  EXPECT_THAT(read_model(path_).error().message, AllOf(HasSubstr(path_), HasSubstr("No such file")));
  EXPECT_THAT(read_model(folder_).error().message, AllOf(HasSubstr(folder_), HasSubstr("directory")));
  EXPECT_THAT(read_model("/dev/zero").error().message, HasSubstr("larger than 16 MB"));
  std::ofstream(path_) << with(kTree, 3, "packets = 99");
  EXPECT_THAT(read_model(path_).error().message, StartsWith(path_ + ", line 3, column "));
}

TEST(ModelFile, HasNothingThatCouldNotBeRead) {
  const auto right = parse_model(kTree, "m.toml");
  ModelOrigin origin = right->origin;
  origin.flows.clear();
  EXPECT_THAT(model_text(*right->model, origin).error().message, HasSubstr("flows has 0 numbers, but needs 2"));
}

}  // namespace
}  // namespace parshall
