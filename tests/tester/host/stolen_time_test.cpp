// SPDX-License-Identifier: Apache-2.0
#include "tester/host/stolen_time.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <sstream>

namespace parshall::tester {
namespace {

std::uint64_t stolen(const std::string& text) {
  std::istringstream stat(text);
  return stolen_ns(stat);
}

TEST(StolenTime, IsThatOfOneProcessorHoweverManyThereAre) {
  const auto tick_ns = 1'000'000'000 / static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  EXPECT_EQ(stolen("cpu  5 0 3 100 2 0 1 40 0 0\ncpu0 5 0 3 100 2 0 1 40 0 0\nintr 7 0\n"), 40 * tick_ns);
  EXPECT_EQ(stolen("cpu  5 0 3 100 2 0 1 40 0 0\ncpu0 1 0 1 25 0 0 0 10 0 0\ncpu1 1 0 1 25 0 0 0 10 0 0\n"
                   "cpu3 1 0 1 25 0 0 0 10 0 0\ncpu7 2 0 0 25 2 0 1 10 0 0\nintr 7 0\nctxt 1\n"),
            10 * tick_ns);
}

TEST(StolenTime, IsNoneWhereItIsNotTold) {
  EXPECT_EQ(stolen(""), 0u);
  EXPECT_EQ(stolen("cpu  5 0 3 100\ncpu0 5 0 3 100\n"), 0u);
  EXPECT_EQ(stolen("cpu  5 0 3 100 2 0 1 40 0 0\n"), 0u);
}

}  // namespace
}  // namespace parshall::tester
