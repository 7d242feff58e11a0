// SPDX-License-Identifier: Apache-2.0
#include "base/counted.hpp"

#include <gtest/gtest.h>

namespace parshall {
namespace {

TEST(Counted, OneIsSingular) {
  EXPECT_EQ(counted(0, "packet"), "0 packets");
  EXPECT_EQ(counted(1, "packet"), "1 packet");
  EXPECT_EQ(counted(2, "packet"), "2 packets");
  EXPECT_EQ(counted(1, "query", "queries"), "1 query");
  EXPECT_EQ(counted(3, "query", "queries"), "3 queries");
}

}  // namespace
}  // namespace parshall
