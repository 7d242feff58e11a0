// SPDX-License-Identifier: Apache-2.0
#include "tester/watch_loss/loss_run.hpp"

#include <gtest/gtest.h>

namespace parshall::tester {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using Unit = SendRate::Unit;

TEST(LongestSending, IsTwiceWhatTheRateTakesAndAMinute) {
  EXPECT_EQ(longest_sending({Unit::packets, 1000}, 60'000), minutes(3));
  EXPECT_EQ(longest_sending({Unit::line_bits, 80'000'000}, 60'000), minutes(3)) << "frames of 10,000 bytes";
  EXPECT_EQ(longest_sending({Unit::as_taken, 0}, 600'000), minutes(3)) << "10,000 packets/s";
  EXPECT_EQ(longest_sending({Unit::line_share, 0.8}, 6000), minutes(3)) << "of 10 Mbit/s, frames of 10,000 bytes";
}

TEST(LongestSending, IsBoundedHoweverSlowTheRate) {
  EXPECT_EQ(longest_sending({Unit::packets, 1e-9}, ~0ull), std::chrono::days(7));
  EXPECT_EQ(longest_sending({Unit::packets, 1e12}, 1), minutes(1));
}

}  // namespace
}  // namespace parshall::tester
