// SPDX-License-Identifier: Apache-2.0
#include "control/blind_loss.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace parshall {
namespace {

/// Windows of 1000 packets, of which so many are lost, and 100 events where none is.
void pass(BlindLoss& loss, int windows, double lost_share, double exponent) {
  for (int i = 0; i < windows; ++i) {
    const auto lost = static_cast<std::uint64_t>(1000 * lost_share);
    loss.add_window(100 * BlindLoss::recall(exponent, lost_share), 1000 - lost, lost);
  }
}

TEST(BlindLoss, LearnsWhatLossesHide) {
  for (const double exponent : {0.1, 1.0, 2.0}) {
    BlindLoss loss;
    pass(loss, 50, 0, exponent);
    EXPECT_EQ(loss.exponent(), BlindLoss::kUnknown) << "nothing was lost";
    for (int i = 0; i < 30; ++i) {
      pass(loss, 5, 0.2, exponent);
      pass(loss, 5, 0, exponent);
    }
    EXPECT_NEAR(loss.exponent(), exponent, 0.05);
  }
}

TEST(BlindLoss, LearnsNothingWhereItDoesNotKnowHowManyEventsThereAre) {
  BlindLoss loss;
  pass(loss, 100, 0.2, 2);
  pass(loss, 10, 0, 2);
  pass(loss, 100, 0.3, 2);
  EXPECT_EQ(loss.exponent(), BlindLoss::kUnknown);
}

TEST(BlindLoss, StaysWithinWhatCanBe) {
  BlindLoss loss;
  pass(loss, 50, 0, 1);
  for (int i = 0; i < 200; ++i) loss.add_window(1e6, 900, 100);
  EXPECT_GE(loss.exponent(), 0);
  loss.add_window(std::numeric_limits<double>::quiet_NaN(), 900, 100);
  loss.add_window(10, 0, 100);
  EXPECT_GE(loss.exponent(), 0);
  EXPECT_LE(BlindLoss::recall(loss.exponent(), 0.2), 1);
}

}  // namespace
}  // namespace parshall
