// SPDX-License-Identifier: Apache-2.0
#include "classify/learning_classifier.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <thread>

#include "classify/model_file.hpp"
#include "classify/registry.hpp"

namespace parshall {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr ClassId kMail = 1, kWeb = 2, kGames = 3;

class LearningClassifiers : public ::testing::Test {
 protected:
  std::string path(const std::string& name = "model.toml") const { return (folder_ / name).string(); }
  LearningClassifier::Options options(bool can_wait = true) const {
    return {.classes = {"other", "mail", "web", "games"}, .path = path(), .command = "test", .can_wait = can_wait};
  }

  /// First sizes of a flow of this class, which differ a little from flow to flow.
  static std::array<std::uint16_t, LearningClassifier::kPackets> sizes_of(ClassId label, std::uint64_t flow) {
    const auto more = static_cast<std::uint16_t>(flow % 7);
    if (label == kMail) return {443, 12, 60, 52, static_cast<std::uint16_t>(200 + more), 52};
    return {443, 12, 60, 52, static_cast<std::uint16_t>(600 + more), 1500};
  }
  static ClassId told(const LearningClassifier& classifier,
                      const std::array<std::uint16_t, LearningClassifier::kPackets>& sizes) {
    ClassId id = kNotClassified;
    classifier.classify(sizes, {&id, 1});
    return id;
  }
  static void teach(LearningClassifier& classifier, std::uint64_t flows) {
    for (std::uint64_t i = 0; i < flows; ++i) {
      const ClassId label = i % 2 == 0 ? kMail : kWeb;
      const auto sizes = sizes_of(label, i);
      classifier.learn(sizes, told(classifier, sizes), label);
    }
  }

 private:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() /
      (std::string("parshall-") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(LearningClassifiers, KnowNothingBeforeTheyLearntAndThenWhatTheLabelsSaid) {
  LearningClassifier classifier(options());
  EXPECT_EQ(told(classifier, sizes_of(kMail, 1)), kUnknownClass);
  teach(classifier, LearningClassifier::kFirstSamples - 1);
  EXPECT_EQ(told(classifier, sizes_of(kMail, 1)), kUnknownClass);
  EXPECT_EQ(classifier.state().judged, 0U);
  teach(classifier, 1);
  EXPECT_EQ(classifier.state().models, 1U);
  EXPECT_EQ(told(classifier, sizes_of(kMail, 1)), kMail);
  EXPECT_EQ(told(classifier, sizes_of(kWeb, 1)), kWeb);
  const auto read = read_model(path());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT((*read)->classes(), ElementsAre("mail", "web"));
}

TEST_F(LearningClassifiers, AreJudgedByFlowsThatTheyHadNotSeen) {
  LearningClassifier classifier(options());
  teach(classifier, 300);
  EXPECT_EQ(classifier.state().judged, 100U);
  EXPECT_EQ(classifier.state().agreed, 100U);
  for (std::uint64_t i = 0; i < 50; ++i) {  // a class that looks like another one
    const auto sizes = sizes_of(kMail, i);
    classifier.learn(sizes, told(classifier, sizes), kGames);
  }
  const LearningState state = classifier.state();
  EXPECT_EQ(state.learnt, 350U);
  EXPECT_EQ(state.judged, 150U);
  EXPECT_EQ(state.agreed, 100U);
  EXPECT_THAT(state.indistinct, ElementsAre("games"));
}

TEST_F(LearningClassifiers, TellApartByPortsWhatHasTheSameSizes) {
  LearningClassifier classifier(options());
  const auto at_port = [](std::uint16_t port) {
    return std::array<std::uint16_t, LearningClassifier::kPackets>{port, 12, 60, 52, 200, 52};
  };
  for (int i = 0; i < 200; ++i)
    classifier.learn(at_port(i % 2 == 0 ? 50'000 : 50'001), kUnknownClass, i % 2 == 0 ? kMail : kWeb);
  EXPECT_EQ(told(classifier, at_port(50'000)), kMail);
  EXPECT_EQ(told(classifier, at_port(50'001)), kWeb);
}

TEST_F(LearningClassifiers, LearnTheUsualClassesOfPortsAndKeepThem) {
  constexpr PortValues kDns{53, 2 * 17}, kMixed{443, 2 * 6 + 1}, kRare{99, 2 * 6};
  {
    LearningClassifier classifier(options());
    for (std::uint64_t i = 0; i < 100; ++i) {
      classifier.learn_port(kDns, i % 5 == 0 ? kWeb : kGames);
      classifier.learn_port(kMixed, i % 2 == 0 ? kWeb : kMail);
    }
    for (std::uint64_t i = 1; i < LearningClassifier::kLeastFlows; ++i) classifier.learn_port(kRare, kWeb);
    EXPECT_EQ(classifier.ports()->find(17, 53), kNotClassified) << "before there is a model";
    teach(classifier, LearningClassifier::kFirstSamples);
    EXPECT_EQ(classifier.ports()->find(17, 53), kGames);
    EXPECT_EQ(classifier.ports()->find(6, 443), kNotClassified);
    EXPECT_EQ(classifier.ports()->find(6, 99), kNotClassified);
  }
  LearningClassifier again(options());
  EXPECT_FALSE(again.begin_with(*read_model_file(path())));
  EXPECT_EQ(again.ports()->find(17, 53), kGames);
  for (int i = 0; i < 50; ++i) again.learn_port(kDns, kGames), again.learn_port(kMixed, kWeb);
  for (int i = 0; i < 26; ++i) again.learn_port(kDns, kMail);
  teach(again, LearningClassifier::kFirstSamples);
  EXPECT_EQ(again.ports()->find(17, 53), kNotClassified) << "130 of 176";
  EXPECT_EQ(again.ports()->find(6, 443), kNotClassified) << "100 of 150";
  for (int i = 0; i < 30; ++i) again.learn_port(kDns, kGames);
  teach(again, LearningClassifier::kFirstSamples);
  EXPECT_EQ(again.ports()->find(17, 53), kGames) << "160 of 206";
}

TEST_F(LearningClassifiers, ForgetPortsAndUsualClassesThatAreOutOfUse) {
  LearningClassifier classifier(options());
  for (int i = 0; i < 100; ++i) classifier.learn_port({53, 2 * 17}, kMail);
  for (std::uint16_t port = 1000; port < 1000 + 3 * LearningClassifier::kMostSamples / 2; ++port)
    classifier.learn_port({port, 2 * 17}, kGames);
  for (int i = 0; i < 100; ++i) classifier.learn_port({99, 2 * 6}, kWeb);
  teach(classifier, LearningClassifier::kFirstSamples);
  EXPECT_EQ(classifier.ports()->find(6, 99), kWeb) << "though ports were more than there is room for";
  EXPECT_EQ(classifier.ports()->find(17, 53), kMail);
  for (int i = 0; i < 100; ++i) classifier.learn_port({53, 2 * 17}, kGames);
  teach(classifier, LearningClassifier::kFirstSamples);
  EXPECT_EQ(classifier.ports()->find(17, 53), kGames) << "of which most are new";
}

TEST_F(LearningClassifiers, CountFewClassesOfAPortAndTheOthersTogether) {
  LearningClassifier::Options many = options();
  for (int i = 0; i < 100; ++i) many.classes.push_back("more " + std::to_string(i));
  LearningClassifier classifier(many);
  for (ClassId label = 0; label < 100; ++label) classifier.learn_port({53, 2 * 17}, label);
  for (int i = 0; i < 250; ++i) classifier.learn_port({53, 2 * 17}, kMail);
  teach(classifier, LearningClassifier::kFirstSamples);
  EXPECT_EQ(classifier.ports()->find(17, 53), kNotClassified) << "251 of 350";
  for (int i = 0; i < 250; ++i) classifier.learn_port({53, 2 * 17}, kMail);
  teach(classifier, LearningClassifier::kFirstSamples);
  EXPECT_EQ(classifier.ports()->find(17, 53), kMail) << "501 of 600";
}

TEST_F(LearningClassifiers, FollowATrafficThatChanges) {
  LearningClassifier classifier(options());
  teach(classifier, 40'000);
  for (std::uint64_t i = 0; i < 80'000; ++i) {  // the two classes change their sizes
    const ClassId label = i % 2 == 0 ? kMail : kWeb;
    classifier.learn(sizes_of(label == kMail ? kWeb : kMail, i), kUnknownClass, label);
  }
  EXPECT_EQ(told(classifier, sizes_of(kMail, 3)), kWeb);
  EXPECT_EQ(told(classifier, sizes_of(kWeb, 3)), kMail);
}

TEST_F(LearningClassifiers, BeginWithAModelOfEarlier) {
  {
    LearningClassifier classifier(options());
    teach(classifier, 200);
  }
  LearningClassifier::Options other = options();
  other.classes = {"web", "other", "games"};  // in another order, and without mail
  LearningClassifier classifier(other);
  EXPECT_FALSE(classifier.begin_with(*read_model_file(path())));
  EXPECT_EQ(told(classifier, sizes_of(kWeb, 1)), 0);
  EXPECT_EQ(told(classifier, sizes_of(kMail, 1)), kUnknownClass);
}

TEST_F(LearningClassifiers, DoNotBeginWithAModelThatTheyCannotContinue) {
  {
    LearningClassifier classifier(options());
    teach(classifier, 200);
  }
  LearningClassifier::Options other = options();
  other.classes = {"other", "games"};
  LearningClassifier classifier(other);
  EXPECT_THAT(classifier.begin_with(*read_model_file(path()))->message, HasSubstr("knows none of the applications"));
  Samples samples;
  for (std::uint16_t i = 0; i < 100; ++i)
    samples.add(std::array<std::uint16_t, 4>{i, 52, 60, 52}, i % 2 == 0 ? "other" : "games", "capture");
  EXPECT_THAT(classifier.begin_with({find_model_kind("c45")->train(samples, {}), {}, {}})->message,
              HasSubstr("was not learnt"));
}

TEST_F(LearningClassifiers, SayWhyTheirModelCannotBeWritten) {
  LearningClassifier::Options wrong = options();
  wrong.path = path("none/model.toml");
  LearningClassifier classifier(wrong);
  EXPECT_THAT(classifier.file_problem()->message, HasSubstr("No such file"));
  EXPECT_FALSE(LearningClassifier(options()).file_problem());
  teach(classifier, 200);
  EXPECT_THAT(classifier.state().problem, HasSubstr("none/model.toml: No such file"));
  EXPECT_EQ(told(classifier, sizes_of(kMail, 1)), kMail);
}

TEST_F(LearningClassifiers, TrainBesideALinkThatDoesNotWait) {
  LearningClassifier classifier(options(/*can_wait=*/false));
  teach(classifier, 200);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (classifier.state().models == 0 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  EXPECT_EQ(told(classifier, sizes_of(kWeb, 1)), kWeb);
  EXPECT_TRUE(std::filesystem::exists(path()));
}

}  // namespace
}  // namespace parshall
