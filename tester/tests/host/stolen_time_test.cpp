// SPDX-License-Identifier: Apache-2.0
#include "tester/host/stolen_time.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <sstream>

namespace parshall::tester {
namespace {

StolenTimes stolen(const std::string& text) {
  std::istringstream stat(text);
  return stolen_times(stat);
}

TEST(StolenTime, IsThatOfTheProcessorThatHadTheMostTakenHoweverManyThereAre) {
  const auto tick_ns = 1'000'000'000 / static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  const StolenTimes before =
      stolen("cpu  5 0 3 100 2 0 1 40 0 0\ncpu0 1 0 1 25 0 0 0 10 0 0\ncpu1 1 0 1 25 0 0 0 30 0 0\nintr 7 0\nctxt 1\n");
  const StolenTimes after = stolen(
      "cpu  5 0 3 100 2 0 1 90 0 0\ncpu0 1 0 1 25 0 0 0 15 0 0\ncpu1 1 0 1 25 0 0 0 32 0 0\ncpu2 1 0 1 25 0 0 0 43 0 "
      "0\n"
      "intr 7 0\n");
  EXPECT_EQ(most_stolen_ns(before, after), 5 * tick_ns) << "of cpu2, which came meanwhile, nothing is known";
  EXPECT_EQ(most_stolen_ns(after, before), 0u);
}

TEST(StolenTime, IsNoneWhereItIsNotTold) {
  EXPECT_TRUE(stolen("").empty());
  EXPECT_TRUE(stolen("cpu  5 0 3 100\ncpu0 5 0 3 100\n").empty());
  EXPECT_TRUE(stolen("cpu  5 0 3 100 2 0 1 40 0 0\n").empty());
}

}  // namespace
}  // namespace parshall::tester
