// SPDX-License-Identifier: Apache-2.0
#include "engine/idle_sweep.hpp"

#include <gtest/gtest.h>

namespace parshall {
namespace {

constexpr std::uint64_t kIdle = 1'000'000'000;
constexpr std::size_t kLines = 1'000;  // one in each ms

TEST(IdleSweep, GoesOnceThroughTheTableInEachIdleTimeout) {
  IdleSweep sweep(kIdle, /*can_wait=*/true);
  sweep.lines_due(kIdle, kLines);
  std::uint64_t lines = 0;
  for (std::uint64_t now = kIdle; now <= 11 * kIdle; now += 500'000) lines += sweep.lines_due(now, kLines);
  EXPECT_NEAR(static_cast<double>(lines), 10.0 * kLines + (kLines - 256), 64);  // what its first slice left, too
}

TEST(IdleSweep, WaitsUntilASliceIsWorthIt) {
  IdleSweep sweep(kIdle, /*can_wait=*/true);
  EXPECT_EQ(sweep.lines_due(63'000'000, kLines), 0);
  EXPECT_EQ(sweep.lines_due(64'000'000, kLines), 64);
  EXPECT_EQ(sweep.lines_due(64'000'000, kLines), 0);
}

TEST(IdleSweep, OfATableOfAFewLinesOneRoundIsWorthIt) {
  IdleSweep sweep(kIdle, /*can_wait=*/true);
  EXPECT_EQ(sweep.lines_due(kIdle - 1, 8), 0);
  EXPECT_EQ(sweep.lines_due(kIdle, 8), 8);
}

TEST(IdleSweep, TakesNoMoreThanASliceAndOwesNoMoreThanARound) {
  IdleSweep waiting(kIdle, /*can_wait=*/true), link(kIdle, /*can_wait=*/false);
  constexpr std::size_t kMany = 100'000;
  EXPECT_EQ(waiting.lines_due(1'000 * kIdle, kMany), 256);
  EXPECT_EQ(link.lines_due(1'000 * kIdle, kMany), 1'024);
  std::uint64_t lines = 0;
  while (const std::uint32_t more = link.lines_due(1'000 * kIdle, kMany)) lines += more;
  EXPECT_NEAR(static_cast<double>(lines), kMany, 64);
}

TEST(IdleSweep, GoesOnAfterAPacketFromTheFuture) {
  IdleSweep sweep(kIdle, /*can_wait=*/true);
  while (sweep.lines_due(1'000 * kIdle, kLines) != 0) {
  }
  EXPECT_EQ(sweep.lines_due(kIdle, kLines), 0);
  EXPECT_EQ(sweep.lines_due(kIdle + 64'000'000, kLines), 64);
}

TEST(IdleSweep, HasNothingToDoWithoutATimeout) {
  IdleSweep sweep(0, /*can_wait=*/true);
  EXPECT_EQ(sweep.lines_due(1'000 * kIdle, kLines), 0);
}

}  // namespace
}  // namespace parshall
