// SPDX-License-Identifier: Apache-2.0
#include "tester/watch_loss/monitor_command.hpp"

#include <gtest/gtest.h>

namespace parshall::tester {
namespace {

using Words = std::vector<std::string>;

TEST(CountPattern, TakesTheLastLineThatHasIt) {
  const auto pattern = CountPattern::parse("([0-9]+) packets");
  ASSERT_TRUE(pattern);
  EXPECT_EQ(pattern->find("1 packets\n22 packets so far\nnothing\n"), 22u);
  EXPECT_EQ(pattern->find("18446744073709551615 packets"), ~std::uint64_t{0});
}

TEST(CountPattern, FindsNothingInGarbage) {
  const auto pattern = CountPattern::parse("([0-9a-z]+) packets");
  for (const std::string& output :
       {std::string(), std::string("packets"), std::string("many packets"), std::string("18446744073709551616 packets"),
        std::string(1'000'000, 'a'), std::string("\0\xff\n 5 packet", 12)})
    EXPECT_FALSE(pattern->find(output)) << output.substr(0, 40);
}

TEST(CountPattern, WantsOneGroup) {
  for (const char* const text : {"[0-9]+", "([0-9]+) of ([0-9]+)", "([0-9"}) EXPECT_FALSE(CountPattern::parse(text));
}

TEST(Output, SaysWhatALineOfItMatches) {
  EXPECT_TRUE(says("warming up\nlistening on tap0", std::regex("listening")));
  EXPECT_FALSE(says("warming up\nlisten", std::regex("listening")));
  EXPECT_TRUE(says("", std::regex("")));
  EXPECT_FALSE(says(std::string(10'000'000, 'a'), std::regex("a*b")));
}

TEST(Words, AreSeparatedBySpacesAndKeptTogetherByQuotes) {
  EXPECT_EQ(*command_words("tcpdump  -i {interface} 'tcp port 80' \"it's\" a'b c'd ''"),
            (Words{"tcpdump", "-i", "{interface}", "tcp port 80", "it's", "ab cd", ""}));
  EXPECT_FALSE(command_words(""));
  EXPECT_FALSE(command_words("  "));
  EXPECT_FALSE(command_words("sh -c 'true"));
}

TEST(Words, NameTheInterfaceWhereverItsPlaceIs) {
  EXPECT_EQ(for_interface({"a", "-i{interface}", "{interface}:{interface}"}, "tap0"),
            (Words{"a", "-itap0", "tap0:tap0"}));
}

}  // namespace
}  // namespace parshall::tester
