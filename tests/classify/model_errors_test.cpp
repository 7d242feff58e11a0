// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "classify/model_file.hpp"
#include "model_texts.hpp"

namespace parshall {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string error_of(const std::string& text) {
  const auto read = parse_model(text, "m.toml");
  return read ? "no error" : read.error().message;
}

struct Wrong {
  std::size_t line;     ///< that is replaced
  std::string by;       ///< nothing: left out
  std::size_t said_of;  ///< line of the error
  std::string words;
};

void expect_wrong(const std::string& text, const std::vector<Wrong>& cases) {
  for (const Wrong& wrong : cases) {
    SCOPED_TRACE(std::to_string(wrong.line) + ": " + wrong.by);
    EXPECT_THAT(
        error_of(with(text, wrong.line, wrong.by)),
        AllOf(StartsWith("m.toml, line " + std::to_string(wrong.said_of) + ", column "), HasSubstr(wrong.words)));
  }
}

std::string many_classes(std::size_t count) {
  std::string list = "classes = [";
  for (std::size_t id = 0; id < count; ++id) list += (id == 0 ? "\"" : ", \"") + std::to_string(id) + "\"";
  return list + "]";
}

TEST(ModelFile, SaysWhatIsWrongWithItsHead) {
  expect_wrong(kBayes, {{1, "", 1, "version is missing"},
                        {1, "version = 2", 1, "only models of version 1"},
                        {1, "version = \"1\"", 1, "only models of version 1"},
                        {2, "", 1, "model is missing"},
                        {2, "model = \"oracle\"", 2, "model must be one of naive-bayes, c45"},
                        {2, "model = 4", 2, "model must be a text in quotes"},
                        {2, "model = \"c45\"", 17, "naive-bayes is unknown here"},
                        {3, "packets = 0", 3, "packets must be a whole number from 1 to 16"},
                        {3, "packets = 17", 3, "packets must be a whole number from 1 to 16"},
                        {3, "packets = -1", 3, "packets must be a whole number"},
                        {3, "packets = 9223372036854775807", 3, "packets must be a whole number"},
                        {3, "packets = 2.0", 3, "packets must be a whole number"},
                        {3, "packets = [2]", 3, "packets must be a whole number"},
                        {3, "", 1, "packets is missing"},
                        {6, "classes = [\"a,b\", \"b\"]", 6, "cannot be the name of a class"},
                        {6, "classes = [\"a\\\"b\", \"b\"]", 6, "cannot be the name of a class"},
                        {6, "classes = [\"a\\nb\", \"b\"]", 6, "cannot be the name of a class"},
                        {6, "classes = [\"unknown\", \"b\"]", 6, "a class cannot have the name"},
                        {6, "classes = [\"\", \"b\"]", 6, "cannot be the name of a class"},
                        {6, "classes = [\"" + std::string(65, 'a') + "\", \"b\"]", 6, "cannot be the name of a class"},
                        {4, "longest = 0", 4, "longest must be a whole number from 1 to 65535"},
                        {4, "longest = 65536", 4, "longest must be a whole number from 1 to 65535"},
                        {5, "reject = 1.01", 5, "reject must be a number from 0 to 1"},
                        {5, "reject = -0.1", 5, "reject must be a number from 0 to 1"},
                        {5, "reject = nan", 5, "reject must be a number from 0 to 1"},
                        {5, "reject = \"0\"", 5, "reject must be a number from 0 to 1"},
                        {6, "", 1, "classes is missing"},
                        {6, "classes = []", 6, "there are 0 classes; 1 to 1024 are possible"},
                        {6, many_classes(1025), 6, "there are 1025 classes; 1 to 1024 are possible"},
                        {6, "classes = \"dns\"", 6, "classes must be a list"},
                        {6, "classes = [\"dns\", 5]", 6, "classes must be a list of texts"},
                        {6, "classes = [\"dns\", \"dns\"]", 6, "two classes have the name \"dns\""},
                        {6, "classes = [\"dns\", \"\"]", 6, "cannot be the name of a class"},
                        {7, "colour = 1\n[training]", 7, "colour is unknown here"},
                        {7, "", 9, "captures is unknown here"},
                        {1, "version = ", 1, "correct it"}});
}

TEST(ModelFile, SaysWhatIsWrongWithItsOrigin) {
  expect_wrong(kBayes, {{8, "date = 2026-11-22", 8, "date must be a text"},
                        {8, "dates = \"\"", 8, "dates is unknown here"},
                        {9, "", 7, "command is missing"},
                        {10, "captures = -3", 10, "captures must be a whole number from 0"},
                        {11, "flows = [10]", 11, "flows has 1 numbers, but needs 2"},
                        {11, "flows = [10, 2.5]", 11, "flows must be a list of whole numbers"},
                        {11, "flows = [10, -2]", 11, "flows must be a list of whole numbers"},
                        {11, "flows = 30", 11, "flows must be a list"},
                        {13, "folds = 1", 13, "folds must be a whole number from 2"},
                        {14, "accuracy = 75", 14, "accuracy must be a number from 0 to 1"},
                        {14, "accuracy = inf", 14, "accuracy must be a number from 0 to 1"},
                        {15, "precision = [0.5, nan]", 15, "precision must be a number from 0 to 1"},
                        {15, "precision = [0.5, \"some\"]", 15, "precision must be a number from 0 to 1"},
                        {15, "precision = [0.5]", 15, "precision has 1 numbers, but needs 2"},
                        {16, "", 12, "recall is missing"}});
}

TEST(ModelFile, SaysWhatIsWrongWithNaiveBayes) {
  const std::string right = with(with(kBayes, 20, "mean = [60, 120.5]"), 21, "variance = [4, 5]");
  EXPECT_EQ(error_of(right), "no error");
  expect_wrong(right, {{21, "variance = [4]", 21, "variance has 1 numbers, but needs 2"},
                       {21, "variance = [4, \"none\"]", 18, "mean and variance must be absent for the same packets"},
                       {19, "name = \"web\"", 18, "one class for each in the list of classes, in the same order"},
                       {19, "name = \"mail\"", 18, "one class for each in the list"},
                       {20, "mean = [60, nan]", 20, "mean must be a number from 0 to 65535"},
                       {20, "mean = [60, -1]", 20, "mean must be a number from 0 to 65535"},
                       {20, "mean = [60, 1e300]", 20, "mean must be a number from 0 to 65535"},
                       {20, "mean = [60, [1]]", 20, "mean must be a number from 0 to 65535"},
                       {20, "mean = {}", 20, "mean must be a list"},
                       {21, "variance = [4, -5]", 21, "variance must be a number from 1e-12"},
                       {21, "variance = [4, 0]", 21, "variance must be a number from 1e-12"},
                       {21, "variance = [4, inf]", 21, "variance must be a number from 1e-12"},
                       {21, "variance = [4, 5]\nprior = 0.5", 17, "all classes must have a prior, or none"},
                       {21, "variance = [4, 5]\nprior = -0.5", 22, "prior must be a number from 0 to 1"},
                       {21, "variance = [4, 5]\nskew = 1", 22, "skew is unknown here"},
                       {6, "classes = [\"dns\"]", 11, "flows has 2 numbers, but needs 1"},
                       {17, "[naive-bayes]\nlayers = 3", 18, "layers is unknown here"}});
  const std::string headless = right.substr(0, right.find("[naive-bayes]"));
  EXPECT_THAT(error_of(headless), HasSubstr("naive-bayes is missing"));
  EXPECT_THAT(error_of(headless + "[naive-bayes]\n"), HasSubstr("class is missing"));
  EXPECT_THAT(error_of(headless + "[naive-bayes]\nclass = 4\n"), HasSubstr("write [[class]]"));
  EXPECT_THAT(error_of(right.substr(0, right.rfind("[["))), HasSubstr("there are 1 classes here, but 2 in the list"));
  EXPECT_THAT(error_of(right + right.substr(right.rfind("[["))),
              HasSubstr("one class for each in the list of classes"));
}

TEST(ModelFile, SaysWhatIsWrongWithATree) {
  EXPECT_EQ(error_of(kTree), "no error");
  const std::string order = "because nodes are listed level by level";
  expect_wrong(
      kTree,
      {{12, "", 12, "nodes is unknown here"},
       {14, "{packet = 0, size = 60, up_to = 1, above = 2},", 14, "packet must be a whole number from 1 to 2"},
       {14, "{packet = 3, size = 60, up_to = 1, above = 2},", 14, "packet must be a whole number from 1 to 2"},
       {14, "{packet = 1, size = 1500, up_to = 1, above = 2},", 14, "size must be a whole number from 0 to 1499"},
       {14, "{packet = 1, size = -1, up_to = 1, above = 2},", 14, "size must be a whole number"},
       {14, "{packet = 1, size = 60, up_to = 0, above = 0},", 14, order},
       {14, "{packet = 1, size = 60, up_to = 1, above = 1},", 14, order},
       {14, "{packet = 1, size = 60, up_to = 2, above = 1},", 14, order},
       {14, "{packet = 1, size = 60, up_to = 1, above = 99},", 14, order},
       {14, "{packet = 1, size = 60, up_to = -1, above = 2},", 14, "up_to must be a whole number"},
       {14, "{packet = 1, size = 60, up_to = 1},", 14, "above is missing"},
       {14, "{packet = 1, size = 60, up_to = 1, above = 2, flows = {}},", 14, "is unknown here"},
       {14, "{flows = {}},", 15, "no earlier node refers to this node"},
       {15, "{packet = 1, size = 20, up_to = 3, above = 4},", 16, "up_to must be 5 and above must be 6 here"},
       {15, "{flows = {\"mail\" = 9}},", 15, "mail is not in the list of classes"},
       {15, "{flows = {\"dns\" = -9}},", 15, "dns must be a number from 0"},
       {15, "{flows = {\"dns\" = nan}},", 15, "dns must be a number from 0"},
       {15, "{flows = {\"dns\" = 1, \"dns\" = 1}},", 15, "correct it"},
       {15, "{flows = [9, 1]},", 15, "flows must be a table"},
       {15, "7,", 15, "a node must be a table"},
       {15, "{},", 15, "packet is missing"},
       {18, "", 13, "there are 4 nodes, but nodes refer to 5"},
       {18, "{flows = {}}, {flows = {}},", 18, "no earlier node refers to this node"},
       {19, "]\ndepth = 9", 20, "depth is unknown here"}});
  const std::string head = kTree.substr(0, kTree.find("nodes"));
  EXPECT_THAT(error_of(head + "nodes = []\n"), HasSubstr("there are 0 nodes, but nodes refer to 1"));
  EXPECT_THAT(error_of(head + "nodes = 5\n"), HasSubstr("nodes must be a list"));
  EXPECT_THAT(error_of(head), HasSubstr("nodes is missing"));
}

TEST(ModelFile, SaysWhatIsWrongWithAForest) {
  EXPECT_EQ(error_of(kForest), "no error");
  expect_wrong(kForest,
               {{14, "nodes = [{flows = {\"mail\" = 9}}]", 14, "mail is not in the list of classes"},
                {14, "", 13, "nodes is missing"},
                {14, "nodes = []", 14, "there are 0 nodes, but nodes refer to 1"},
                {14, "nodes = [{flows = {}}]\nweight = 2", 15, "weight is unknown here"},
                {17, "{packet = 3, size = 90, up_to = 1, above = 2},", 17, "packet must be a whole number from 1 to 2"},
                {12, "[forest]\ntrees = 2", 13, "trees is unknown here"},
                {12, "[c45]", 12, "c45 is unknown here"}});
  const std::string head = kForest.substr(0, kForest.find("[[")), tree = "[[forest.tree]]\nnodes = [{flows = {}}]\n";
  EXPECT_THAT(error_of(head), HasSubstr("there are 0 trees, [[forest.tree]]; 1 to 256 are possible"));
  EXPECT_THAT(error_of(head + "tree = 5\n"), HasSubstr("write [[tree]] for each tree"));
  std::string many = head;
  for (int count = 0; count < 257; ++count) many += tree;
  EXPECT_THAT(error_of(many), HasSubstr("there are 257 trees"));
}

TEST(ModelFile, RefusesATableOfAbsurdSize) {
  std::string text = with(with(kBayes, 3, "packets = 16"), 4, "longest = 65535");
  std::string flows = "flows = [1";
  for (std::size_t id = 1; id < 1024; ++id) flows += ", 1";
  text = with(with(text, 6, many_classes(1024)), 11, flows + "]");
  text.erase(text.find("[accuracy]"), text.find("[naive-bayes]") - text.find("[accuracy]"));
  EXPECT_THAT(error_of(text), HasSubstr("make a table above 1 GB"));
}

TEST(ModelFile, RefusesWhatIsNoToml) {
  EXPECT_THAT(error_of(""), HasSubstr("version is missing"));
  EXPECT_THAT(error_of(std::string(1000, '\0')), StartsWith("m.toml, line 1, column "));
  EXPECT_THAT(error_of("\xFF\xFE\x80"), StartsWith("m.toml, line 1, column "));
  EXPECT_THAT(error_of("a = " + std::string(100'000, '[')), StartsWith("m.toml, line 1, column "));
  EXPECT_THAT(error_of(std::string(kMostModelBytes + 1, '#')), HasSubstr("larger than 16 MB"));
}

TEST(ModelFile, IsNeverCrashedByATextWithAByteChangedOrCutOff) {
  for (const std::string& text : {kBayes, kTree, kForest})
    for (std::size_t at = 0; at < text.size(); ++at) {
      static_cast<void>(parse_model(text.substr(0, at), "m.toml"));
      for (const char c : {'9', '-', '"', '[', '}', '\n', '\0', '\xFF', 'e'}) {
        std::string changed = text;
        changed[at] = c;
        static_cast<void>(parse_model(changed, "m.toml"));
      }
    }
}

}  // namespace
}  // namespace parshall
