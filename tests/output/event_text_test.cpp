// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/text/event_text.hpp"

#include <gtest/gtest.h>

namespace parshall {
namespace {

Event recall_event(std::vector<EventValue> values) {
  return {.task = "bursty",
          .window = {.length = {WindowLength::Unit::ns, 10'000'000}, .number = 1},
          .part = nullptr,
          .key = {},
          .values = std::move(values),
          .error = {{"confidence", 0.95}},
          .kind = EventKind::recall};
}

TEST(EventText, SaysWhatATaskFoundWhichFlowsItFollowedAndWhy) {
  std::vector<EventValue> values{{"recall", 0.812},
                                 {"recall_at_least", 0.74},
                                 {"recall_wanted", 0.75},
                                 {"flows_seen", std::uint64_t{500}},
                                 {"flows_missed", std::uint64_t{500}},
                                 {"packets_missed", std::uint64_t{0}}};
  EXPECT_EQ(event_text(recall_event(values)),
            "00:00:00.010  bursty  found about 81 % of its events (at least 74 %), enough for the 75 % that it wants: "
            "time was short, so it followed 50 % of its flows");
  for (std::size_t weight = 0; weight < FlowWeight::kClasses; ++weight)
    values.push_back({followed_from(weight), weight == 0 ? 0.005 : weight < 3 ? 0.31 : 0.99});
  EXPECT_EQ(
      event_text(recall_event(values)),
      "00:00:00.010  bursty  found about 81 % of its events (at least 74 %), enough for the 75 % that it wants: "
      "time was short, so it followed less than 1 % of its flows below 8 packets in 10 ms, 31 % of those below 32 "
      "and 99 % of the others");
  values[0].value = 0.4;
  EXPECT_NE(event_text(recall_event(values)).find("about 40 % of its events (at least 74 %), less than the 75 %"),
            std::string::npos);
}

TEST(EventText, SaysThatPacketsWereLostAndThatNothingIsKnown) {
  EXPECT_EQ(
      event_text(recall_event({{"recall", 0.9},
                               {"recall_at_least", 0.7},
                               {"recall_wanted", 0.75},
                               {"flows_seen", std::uint64_t{500}},
                               {"flows_missed", std::uint64_t{0}},
                               {"packets_missed", std::uint64_t{200}}})),
      "00:00:00.010  bursty  found about 90 % of its events (at least 70 %), enough for the 75 % that it wants: it "
      "followed 100 % of its flows; 200 packets lost");
  EXPECT_EQ(
      event_text(recall_event({{"flows_seen", std::uint64_t{0}},
                               {"flows_missed", std::uint64_t{60}},
                               {"packets_missed", std::uint64_t{1}}})),
      "00:00:00.010  bursty  nothing is known of what it missed: time was short, so it followed 0 % of its flows; 1 "
      "packet lost");
  EXPECT_EQ(
      event_text(recall_event({{"recall", 1.0},
                               {"recall_at_least", 1.0},
                               {"recall_wanted", 0.75},
                               {"flows_seen", std::uint64_t{0}},
                               {"flows_missed", std::uint64_t{0}},
                               {"packets_missed", std::uint64_t{0}}})),
      "00:00:00.010  bursty  found about 100 % of its events (at least 100 %), enough for the 75 % that it wants: "
      "none of its flows came");
}

}  // namespace
}  // namespace parshall
