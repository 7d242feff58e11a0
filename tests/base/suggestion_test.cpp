// SPDX-License-Identifier: Apache-2.0
#include "base/suggestion.hpp"

#include <gtest/gtest.h>

namespace parshall {
namespace {

const std::vector<std::string> kColumns{"packets",      "ip_bytes", "wire_bytes", "first_seen_ns",
                                        "last_seen_ns", "gap_p99",  "rate"};

TEST(Suggestion, TheNearestNameTakesTheFewestLetters) {
  EXPECT_EQ(nearest_name("packts", kColumns), "packets");
  EXPECT_EQ(nearest_name("pakcets", kColumns), "packets") << "two letters were swapped";
  EXPECT_EQ(nearest_name("packett", kColumns), "packets");
  EXPECT_EQ(nearest_name("wire_bites", kColumns), "wire_bytes");
  EXPECT_EQ(nearest_name("first_sen_n", kColumns), "first_seen_ns") << "two letters are missing";
}

TEST(Suggestion, ABeginningIsNear) {
  EXPECT_EQ(nearest_name("first", kColumns), "first_seen_ns");
  EXPECT_EQ(nearest_name("fi", kColumns), "") << "two letters say little";
}

TEST(Suggestion, CapitalsDoNotCount) {
  EXPECT_EQ(nearest_name("PACKETS", kColumns), "packets");
  EXPECT_EQ(nearest_name("cvs", {"CSV"}), "CSV");
}

TEST(Suggestion, AShortFormHasTheFirstThreeLettersOfItsName) {
  EXPECT_EQ(nearest_name("stats", {"tables", "statistics"}), "statistics");
  EXPECT_EQ(nearest_name("statz", {"statistics"}), "");
  EXPECT_EQ(nearest_name("ttistics", {"statistics"}), "statistics") << "two letters, and no short form";
  EXPECT_EQ(nearest_name("sttcs", {"statistics"}), "");
}

TEST(Suggestion, AWordThatIsLikeNoneHasNone) {
  EXPECT_EQ(nearest_name("colour", kColumns), "");
  EXPECT_EQ(nearest_name("", kColumns), "");
  EXPECT_EQ(nearest_name("x", {"a", "b"}), "") << "any letter is one letter away";
  EXPECT_EQ(nearest_name("rat", {"foo"}), "");
  EXPECT_EQ(nearest_name(std::string(100000, 'a'), kColumns), "");
}

TEST(Suggestion, ShowsAtMostFiveNamesAndWhereAllAre) {
  EXPECT_EQ(
      suggestion("packts", kColumns, "parshall list columns"),
      "; did you mean packets? There are packets, ip_bytes, wire_bytes, first_seen_ns, last_seen_ns, ... (parshall "
      "list columns)");
  EXPECT_EQ(suggestion("colour", {"src", "dst"}), "; there are src, dst");
  EXPECT_EQ(suggestion("colour", {"src"}), "; there is src");
  EXPECT_EQ(suggestion("colour", {}), "");
}

}  // namespace
}  // namespace parshall
