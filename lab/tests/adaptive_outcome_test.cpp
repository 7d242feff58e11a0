// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <utility>

#include "lab/adaptive/outcome.hpp"

namespace parshall::lab {
namespace {

EventWindow window(std::uint64_t number) { return {{WindowLength::Unit::ns, kWindowNs}, number, {}}; }

WindowRecall told(std::uint64_t number, std::uint64_t seen, std::uint64_t in_part, std::uint64_t missed) {
  return {.task = "t",
          .window = window(number),
          .threshold = 0.75,
          .recall = 1,
          .at_least = 1,
          .flows_seen = seen,
          .flows_missed = missed,
          .flows_seen_in_part = in_part};
}

Event about(std::uint64_t number, double recall) {
  return {"t",
          window(number),
          nullptr,
          {},
          {{"recall", recall}, {"recall_at_least", recall / 2}, {"flows_seen", std::uint64_t{1}}},
          {},
          EventKind::recall};
}

TEST(AdaptiveOutcome, FlowsOfAWindowAreKnownWhetherOrNotAnEventTellsOfIt) {
  const Stretches kept{{5, 6}};
  OutcomeTaker taker(kept);
  taker.recall(told(5, 30, 4, 10));  // nothing was found, and nothing expected
  taker.recall(told(6, 40, 0, 0));
  taker.event(about(6, 0.5));
  const Outcome outcome = std::move(taker).outcome();
  ASSERT_EQ(outcome.flows.size(), 2u);
  const FlowsLookedAt& flows = outcome.flows.at({"t", 5});
  EXPECT_EQ(flows.seen, 30u);
  EXPECT_EQ(flows.seen_in_part, 4u);
  EXPECT_EQ(flows.missed, 10u);
  EXPECT_EQ(outcome.flows.at({"t", 6}).seen, 40u) << "as it is told, not as the event has it";
  ASSERT_EQ(outcome.said.size(), 1u);
  EXPECT_EQ(outcome.said.at({"t", 6}).value().at_least, 0.25);
}

TEST(AdaptiveOutcome, WhatIsInNoStretchIsNotKept) {
  const Stretches kept{{5, 6}, {9, 9}};
  OutcomeTaker taker(kept);
  for (const std::uint64_t number : {4, 7, 8, 10}) {
    taker.recall(told(number, 1, 0, 0));
    taker.event(about(number, 0.5));
  }
  taker.recall(told(9, 1, 0, 0));
  const Outcome outcome = std::move(taker).outcome();
  EXPECT_EQ(outcome.flows.size(), 1u);
  EXPECT_TRUE(outcome.said.empty());
}

}  // namespace
}  // namespace parshall::lab
