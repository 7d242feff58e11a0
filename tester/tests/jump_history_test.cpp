// SPDX-License-Identifier: Apache-2.0
#include "tester/jump_history.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace parshall::tester {
namespace {

TEST(JumpHistory, IsExactAsLongAsTheJumpIsRememberedAndABoundAfterwards) {
  std::mt19937_64 random(1);
  int exact = 0, bounds = 0;
  for (int round = 0; round < 2000; ++round) {
    std::vector<Jump> kept(8), all;
    JumpHistory history;
    std::uint64_t sequence = 0, arrival = 0;
    for (std::uint64_t count = 1 + random() % 30; count > 0; --count) {
      sequence += 2 + random() % 5;
      arrival += 1 + random() % 5;
      all.push_back({sequence, arrival});
      history.add(kept, all.back());
    }
    const std::uint64_t late = random() % sequence, arrivals = arrival + 1 + random() % 5;
    const auto first = std::ranges::find_if(all, [&](const Jump& jump) { return jump.sequence > late; });
    if (first != all.begin() && (first - 1)->sequence == late) continue;  // it came: it can't be late
    const bool is_remembered = all.end() - first <= 8;
    const Extent extent = history.extent(kept, late, arrivals);
    ASSERT_EQ(extent.says == Extent::Says::exactly, is_remembered) << round;
    if (is_remembered)
      ASSERT_EQ(extent.frames, arrivals - first->arrival) << round;
    else
      ASSERT_LT(extent.frames, arrivals - first->arrival) << round;
    ++(is_remembered ? exact : bounds);
  }
  EXPECT_GT(exact, 300);
  EXPECT_GT(bounds, 300);
}

}  // namespace
}  // namespace parshall::tester
