// SPDX-License-Identifier: Apache-2.0
#include "classify/sample_csv.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "base/random.hpp"

namespace parshall {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Result<SampleFile> parsed(const std::string& text) {
  std::istringstream csv(text);
  return parse_samples(csv, "s.csv");
}

std::string written(const Samples& samples, const std::vector<std::uint32_t>& folds = {}) {
  std::ostringstream csv;
  write_samples(csv, samples, folds);
  return csv.str();
}

std::string csv_error_of(const std::string& text) {
  const auto read = parsed(text);
  return read ? "no error" : read.error().message;
}

const std::string kHeader = "class,capture,size_1,size_2\n";

TEST(SampleCsv, ReadsFlows) {
  const auto file = parsed(kHeader + "web,a.pcap,60,52\r\ndns,b.pcap,70,\nweb,b.pcap,,65535");
  ASSERT_TRUE(file) << file.error().message;
  const Samples& samples = file->samples;
  EXPECT_EQ(samples.packets, 2u);
  EXPECT_EQ(samples.sizes, (std::vector<std::uint16_t>{60, 52, 70, 0, 0, 65535}));
  EXPECT_EQ(samples.classes, (std::vector<ClassId>{0, 1, 0}));
  EXPECT_EQ(samples.captures, (std::vector<std::uint32_t>{0, 1, 1}));
  EXPECT_EQ(samples.capture_names, (std::vector<std::string>{"a.pcap", "b.pcap"}));
  EXPECT_TRUE(file->folds.empty());
}

TEST(SampleCsv, ReadsFolds) {
  const auto file = parsed("class,capture,size_1,fold\r\nweb,a,60,3\r\ndns,b,70,0\r\n");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->folds, (std::vector<std::uint32_t>{3, 0}));
}

TEST(SampleCsv, ReadsCellsInQuotes) {
  const auto file = parsed("\"class\",capture,size_1\n\"a \"\"b\"\", c\",\"two\r\nlines\",\"60\"\r\n\"x\",y,\"\"\n");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->samples.class_names, (std::vector<std::string>{"a \"b\", c", "x"}));
  EXPECT_EQ(file->samples.capture_names[0], "two\r\nlines");
  EXPECT_EQ(file->samples.sizes, (std::vector<std::uint16_t>{60, 0}));
}

TEST(SampleCsv, MayHaveNoFlows) {
  const auto file = parsed("class,capture,size_1");
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->samples.size(), 0u);
}

TEST(SampleCsv, IsReadAsItWasWrittenWhateverNamesAre) {
  SplitMix64 random(1);
  const std::string letters = "ab,\"\n\r ;é";
  const auto name = [&] {
    std::string text = "x";
    while (random.below(5) != 0) text += letters[random.below(letters.size())];
    return text;
  };
  for (std::size_t packets = 1; packets <= kMostFirstPackets; ++packets)
    for (const bool with_folds : {false, true}) {
      Samples samples{.packets = packets};
      std::vector<std::uint32_t> folds;
      for (int flow = 0; flow < 50; ++flow) {
        std::vector<std::uint16_t> sizes(packets);
        for (auto& size : sizes) size = static_cast<std::uint16_t>(random.below(3) == 0 ? 0 : random.below(65536));
        samples.add(sizes, name(), name());
        if (with_folds) folds.push_back(static_cast<std::uint32_t>(random.below(10)));
      }
      const auto again = parsed(written(samples, folds));
      ASSERT_TRUE(again) << again.error().message;
      EXPECT_EQ(again->samples.sizes, samples.sizes);
      EXPECT_EQ(again->samples.classes, samples.classes);
      EXPECT_EQ(again->samples.class_names, samples.class_names);
      EXPECT_EQ(again->samples.captures, samples.captures);
      EXPECT_EQ(again->samples.capture_names, samples.capture_names);
      EXPECT_EQ(again->folds, folds);
    }
}

TEST(SampleCsv, SaysWhatIsWrongInWhichLine) {
  const struct {
    std::string text;
    int line;
    std::string words;
  } cases[] = {
      {"", 1, "the first line must be class,capture,size_1"},
      {"\n", 2, "the first line must be"},
      {"class,capture\n", 1, "the first line must be"},
      {"class,capture,fold\n", 1, "the first line must be"},
      {"class,capture,size_2\n", 1, "the first line must be"},
      {"capture,class,size_1\n", 1, "the first line must be"},
      {"class,capture,size_1,fold,size_2\n", 1, "the first line must be"},
      {"class,capture,size_1,size_2,size_3,size_4,size_5,size_6,size_7,size_8,size_9,size_10,size_11,size_12,size_13,"
       "size_14,size_15,size_16,size_17\n",
       1, "the first line must be"},
      {std::string(5000, 'x'), 1, "a cell has more than 1000 bytes"},
      {kHeader + "web,a,60\n", 2, "there are 3 cells, but 4 in the first line"},
      {kHeader + "web,a,60,52,9\n", 2, "there are 5 cells"},
      {kHeader + "web,a,60,52\n\nweb\n", 4, "there are 1 cells"},
      {kHeader + ",a,60,52\n", 2, "the class is empty"},
      {kHeader + "web,,60,52\n", 2, "the capture is empty"},
      {kHeader + "web,a,60,0\n", 2, "size_2 is 0: it must be a whole number from 1 to 65535, or empty"},
      {kHeader + "web,a,65536,1\n", 2, "size_1 is 65536"},
      {kHeader + "web,a,-1,1\n", 2, "size_1 is -1"},
      {kHeader + "web,a,1.5,1\n", 2, "size_1 is 1.5"},
      {kHeader + "web,a,60x,1\n", 2, "size_1 is 60x"},
      {kHeader + "web,a, 60,1\n", 2, "size_1 is  60"},
      {kHeader + "web,a,99999999999999999999,1\n", 2, "size_1 is 9999"},
      {kHeader + "web,a,60,52\nweb,\"a\nb\",60,52\nweb,a,60,x\n", 5, "size_2 is x"},
      {kHeader + "web,\"a,60,52\n", 2, "a quote is not closed"},
      {kHeader + "web,\"a\"b,60,52\n", 2, "a comma is missing after a cell in quotes"},
      {kHeader + "web,a\"b,60,52\n", 2, "a quote is inside a cell"},
      {kHeader + "web," + std::string(1001, 'a') + ",60,52\n", 2, "a cell has more than 1000 bytes"},
      {kHeader + "web,\"" + std::string(1001, 'a') + "\",60,52\n", 2, "a cell has more than 1000 bytes"},
      {kHeader + std::string(100, ','), 2, "there are too many cells"},
      {"class,capture,size_1,fold\nweb,a,60,\n", 2, "fold is : it must be a whole number"},
      {"class,capture,size_1,fold\nweb,a,60,-1\n", 2, "fold is -1"},
      {"class,capture,size_1,fold\nweb,a,60,4294967296\n", 2, "fold is 4294967296"},
  };
  for (const auto& [text, line, words] : cases) {
    EXPECT_THAT(csv_error_of(text), StartsWith("s.csv, line " + std::to_string(line) + ": ")) << text;
    EXPECT_THAT(csv_error_of(text), HasSubstr(words));
  }
}

TEST(SampleCsv, RefusesMoreClassesThanAModelTellsApart) {
  std::string text = kHeader;
  for (std::size_t id = 0; id < kMostClasses; ++id) text += std::to_string(id) + ",a,60,52\n";
  EXPECT_EQ(csv_error_of(text), "no error");
  EXPECT_THAT(csv_error_of(text + "one more,a,60,52\n"), HasSubstr("line 1026: there are more than 1024 classes"));
}

TEST(SampleCsv, IsNeverCrashedByRandomBytes) {
  SplitMix64 random(2);
  const std::string likely = ",,,,\"\"\"\n\n\r0123456789ax\0\xFF";
  for (int file = 0; file < 20'000; ++file) {
    std::string text = kHeader;
    while (random.below(40) != 0) text += likely[random.below(likely.size())];
    const auto read = parsed(text);
    if (read) {
      ASSERT_EQ(read->samples.sizes.size(), 2 * read->samples.size());
    }
  }
}

TEST(SampleCsv, SaysWhyAFileCannotBeRead) {
  EXPECT_THAT(read_samples("/no/such.csv").error().message,
              HasSubstr("cannot read samples from /no/such.csv: No such"));
  EXPECT_THAT(read_samples("/").error().message, StartsWith("/, line 1: the file cannot be read any further"));
}

}  // namespace
}  // namespace parshall
