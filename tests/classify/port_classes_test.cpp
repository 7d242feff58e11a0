// SPDX-License-Identifier: Apache-2.0
#include "classify/port_classes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "classify/model_file.hpp"
#include "classify/port_classifier.hpp"
#include "model_texts.hpp"

namespace parshall {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr PortKey kNames{17, 53}, kHttps{6, 443}, kIcmp{1, 0};

std::string text_of(const PortClasses& classes) {
  std::string text;
  for (const PortClass& each : classes.ports)
    text +=
        fmt::format("{}/{} {} {:.2f} of {}; ", each.key.protocol, each.key.port, each.class_name, each.share, each.of);
  return text;
}

/// Adds `flows` flows in each of the captures from `first` on.
void add(PortFlows& to, PortKey key, const std::string& name, int first, int captures, int flows = 1) {
  for (int capture = first; capture < first + captures; ++capture)
    for (int flow = 0; flow < flows; ++flow) to.add(key, flow % 2 == 0, name, "c" + std::to_string(capture));
}

TEST(PortClasses, CountCapturesAndNotTheirFlows) {
  PortFlows flows;
  add(flows, kNames, "dns", 0, 4, 50);
  add(flows, kNames, "tunnel", 4, 1, 5000);
  EXPECT_EQ(text_of(flows.learn({.captures = 2}, 2, 1)), "17/53 dns 0.80 of 5; ");
}

TEST(PortClasses, AreThoseOfMostFlowsOfEachCapture) {
  PortFlows flows;
  add(flows, kNames, "dns", 0, 6, 19);
  add(flows, kNames, "tunnel", 0, 6);
  add(flows, kIcmp, "ping", 0, 6, 5);  // in each capture as many as of the other one
  add(flows, kIcmp, "scan", 0, 6, 5);
  add(flows, kHttps, "web", 0, 1);
  add(flows, kHttps, "web", 0, 1);  // the same capture again
  EXPECT_EQ(text_of(flows.learn({.captures = 2}, 2, 1)), "17/53 dns 0.95 of 6; ");
}

TEST(PortClasses, AreOfThreeQuartersOfTheCapturesAtLeastAndOfAsManyAsAreAskedFor) {
  PortFlows flows;
  add(flows, kHttps, "web", 0, 3);
  add(flows, kHttps, "video", 3, 1);
  add(flows, kIcmp, "ping", 4, 2);
  add(flows, kNames, "dns", 6, 2);
  add(flows, kNames, "other", 8, 1);
  EXPECT_EQ(text_of(flows.learn({.captures = 2}, 2, 1)), "1/0 ping 1.00 of 2; 6/443 web 0.75 of 4; ");
  EXPECT_EQ(text_of(flows.learn({.captures = 3}, 2, 1)), "6/443 web 0.75 of 4; ");
  EXPECT_EQ(text_of(flows.learn({.captures = 2, .share = 0.8}, 2, 1)), "1/0 ping 1.00 of 2; ");
  add(flows, kHttps, "video", 9, 1);
  EXPECT_EQ(text_of(flows.learn({.captures = 3}, 2, 1)), "");
}

TEST(PortClasses, AreTestedOnShortFlowsOfOtherCaptures) {
  PortFlows flows;
  add(flows, kNames, "dns", 0, 10, 4);   // two of the four flows of each are short
  add(flows, kHttps, "web", 10, 1, 20);  // known from one capture, which is left out
  add(flows, kIcmp, "ping", 11, 9, 2);
  add(flows, kIcmp, "tunnel", 20, 1, 6);
  const PortClasses classes = flows.learn({.captures = 1}, 21, 7);
  EXPECT_EQ(classes.tested, 20 + 10 + 9 + 3U);
  EXPECT_EQ(classes.classified, 20 + 9 + 3U);
  EXPECT_EQ(classes.correct, 20 + 9U);
}

TEST(PortClasses, OfNoFlowsAreNone) {
  EXPECT_THAT(PortFlows().learn({.captures = 2}, 10, 1).ports, IsEmpty());
  EXPECT_EQ(to_toml(PortFlows().learn({.captures = 2}, 10, 1)), "");
}

PortClasses made() {
  return {.ports = {{kIcmp, "ping", 1, 2}, {kHttps, "web", 0.8, 10}, {kNames, "names", 0.75, 4}},
          .tested = 9,
          .classified = 7,
          .correct = 5};
}

TEST(PortClasses, AreReadAsTheyWereWritten) {
  const auto model = parse_model(kTree, "m.toml");
  ASSERT_TRUE(model);
  EXPECT_THAT(model->ports.ports, IsEmpty());
  const std::string text = to_toml(*model->model, model->origin, made());
  const auto again = parse_model(text, "again.toml");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(text_of(again->ports), "1/0 ping 1.00 of 2; 6/443 web 0.80 of 10; 17/53 names 0.75 of 4; ");
  EXPECT_EQ(again->ports.tested, 9U);
  EXPECT_EQ(again->ports.classified, 7U);
  EXPECT_EQ(again->ports.correct, 5U);
  EXPECT_EQ(to_toml(*again->model, again->origin, again->ports), text);
}

TEST(PortClasses, SayWhatIsWrongWithTheirTable) {
  const auto error_of = [](const std::string& table) {
    const auto read = parse_model(kTree + table, "m.toml");
    return read ? "no error" : read.error().message;
  };
  const std::string head = "[short-flows]\ntested = 5\nclassified = 4\ncorrect = 3\n";
  const std::string port = "{protocol = 17, port = 53, class = \"dns\", share = 0.9, of = 4}";
  EXPECT_EQ(error_of(head + "ports = [" + port + "]\n"), "no error");
  EXPECT_THAT(error_of(head + "ports = [" + port + ", " + port + "]\n"),
              AllOf(StartsWith("m.toml, line "), HasSubstr("in the order of protocol and port, each once")));
  EXPECT_THAT(error_of("[short-flows]\ntested = 5\nclassified = 6\ncorrect = 3\n"),
              HasSubstr("classified must be a whole number from 0 to 5"));
  for (const auto& [from, to, words] : {std::array{"17", "256", "protocol must be a whole number from 0 to 255"},
                                        {"53", "65536", "port must be a whole number from 0 to 65535"},
                                        {"\"dns\"", "\"\"", "cannot be the name of a class"},
                                        {"share = 0.9", "share = 1.1", "share must be a number from 0 to 1"},
                                        {"share = 0.9", "share = nan", "share must be a number from 0 to 1"},
                                        {"of = 4", "of = 0", "of must be a whole number from 1"},
                                        {"of = 4", "of = 9223372036854775807", "of must be a whole number from 1"},
                                        {"of = 4", "off = 4", "off is unknown here"}}) {
    std::string wrong = port;
    wrong.replace(wrong.find(from), std::string_view(from).size(), to);
    EXPECT_THAT(error_of(head + "ports = [" + wrong + "]\n"), AllOf(StartsWith("m.toml, line "), HasSubstr(words)))
        << wrong;
  }
}

TEST(PortClassifier, KnowsTheModelsClassesAndThoseOfPorts) {
  auto file = parse_model(kTree, "m.toml");
  ASSERT_TRUE(file);
  file->ports = made();
  const auto classifier = classifier_of(*std::move(file));
  EXPECT_TRUE(classifier->knows_ports());
  EXPECT_EQ(classifier->classes_by_sizes(), 2U);
  EXPECT_THAT(classifier->classes(), ElementsAre("dns", "web", "ping", "names"));
  EXPECT_EQ(classifier->ports()->find(6, 443), 1);
  EXPECT_EQ(classifier->ports()->find(1, 0), 2);
  EXPECT_EQ(classifier->ports()->find(17, 53), 3);
  EXPECT_EQ(classifier->ports()->find(6, 53), kNotClassified);
  EXPECT_EQ(classifier->ports()->find(17, 52), kNotClassified);
}

TEST(PortClassifier, LeavesOutPortsThatAreLessProbableThanTheModelsBound) {
  std::string text = kTree;
  text.replace(text.find("reject = 0"), 10, "reject = 0.9");
  auto file = parse_model(text, "m.toml");
  ASSERT_TRUE(file);
  file->ports = made();
  const auto classifier = classifier_of(*std::move(file));
  EXPECT_EQ(classifier->ports()->find(1, 0), 2);
  EXPECT_EQ(classifier->ports()->find(6, 443), kNotClassified) << "0.8";
}

TEST(PortClassifier, IsTheModelItselfWithoutPorts) {
  auto file = parse_model(kTree, "m.toml");
  ASSERT_TRUE(file);
  const Model* const model = file->model.get();
  EXPECT_EQ(classifier_of(*std::move(file)).get(), model);
}

}  // namespace
}  // namespace parshall
