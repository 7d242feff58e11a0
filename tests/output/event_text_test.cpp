// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/text/event_text.hpp"

#include <gtest/gtest.h>

namespace parshall {
namespace {

std::string text_of(std::vector<EventValue> values) {
  const std::string text = event_text({.task = "bursty",
                                       .window = {.length = {WindowLength::Unit::ns, 10'000'000}, .number = 1},
                                       .part = nullptr,
                                       .key = {},
                                       .values = std::move(values),
                                       .error = {{"confidence", 0.95}},
                                       .kind = EventKind::recall});
  const std::string begin = "1970-01-01T00:00:00.010Z  bursty  ";
  EXPECT_EQ(text.substr(0, begin.size()), begin);
  return text.substr(begin.size());
}

std::vector<EventValue> found(double recall, double at_least, std::uint64_t missed, std::uint64_t lost = 0) {
  return {{"recall", recall},       {"recall_at_least", at_least},
          {"recall_wanted", 0.75},  {"flows_seen", std::uint64_t{500}},
          {"flows_missed", missed}, {"packets_missed", lost}};
}

TEST(EventText, ItsTimeHasADateAndAZone) {
  const Event event{.task = "scans",
                    .window = {.length = {WindowLength::Unit::ns, 1'000'000'000}, .number = 1'795'947'243},
                    .part = nullptr,
                    .key = {},
                    .values = {{"attempts", std::uint64_t{100}}},
                    .error = {}};
  EXPECT_EQ(event_text(event), "2026-11-29T10:14:03Z  scans  attempts 100");
  EXPECT_EQ(event_words(event), "scans  attempts 100");
  ::setenv("TZ", "CET-1", 1);
  ::tzset();
  EXPECT_EQ(event_text(event, TimeZone::local), "2026-11-29 11:14:03 CET  scans  attempts 100");
  ::unsetenv("TZ");
  ::tzset();
}

TEST(EventText, SaysWhatATaskFoundWhichFlowsItFollowedAndWhy) {
  std::vector<EventValue> values = found(0.812, 0.74, 500);
  EXPECT_EQ(text_of(values),
            "found about 81 % of its events (at least 74 %), enough for the 75 % that it wants: time was short, so it "
            "left out 500 flows");
  values.push_back({followed_from(0), 0.5});
  values.push_back({followed_from(3), 0.52});
  EXPECT_EQ(text_of(values),
            "found about 81 % of its events (at least 74 %), enough for the 75 % that it wants: time was short, so it "
            "followed 50 % of its flows");
  values.resize(6);
  for (std::size_t weight = 0; weight < FlowWeight::kClasses; ++weight)
    values.push_back({followed_from(weight), weight == 0 ? 0.005 : weight < 3 ? 0.31 : 0.997});
  EXPECT_EQ(
      text_of(values),
      "found about 81 % of its events (at least 74 %), enough for the 75 % that it wants: time was short, so it "
      "followed less than 1 % of its flows below 8 packets in 10 ms, 31 % of those below 32 and more than 99 % of "
      "the others");
  EXPECT_EQ(text_of(found(0.4, 0.3, 1)),
            "found about 40 % of its events (at least 30 %), less than the 75 % that it wants: time was short, so it "
            "left out 1 flow");
}

TEST(EventText, SaysThatPacketsWereLostAndWhereThereWasNoRoomAndWhatIsNotKnown) {
  EXPECT_EQ(text_of(found(0.9, 0.7, 0, 200)),
            "found about 90 % of its events (at least 70 %), enough for the 75 % that it wants; 200 packets lost");
  std::vector<EventValue> values = found(0.9, 0.7, 30);
  values.push_back({"flows_without_room", std::uint64_t{30}});
  EXPECT_EQ(text_of(values),
            "found about 90 % of its events (at least 70 %), enough for the 75 % that it wants; no room for 30 flows");
  EXPECT_EQ(text_of({{"flows_seen", std::uint64_t{0}},
                     {"flows_missed", std::uint64_t{60}},
                     {"packets_missed", std::uint64_t{1}}}),
            "nothing is known of what it missed: time was short, so it left out 60 flows; 1 packet lost");
}

}  // namespace
}  // namespace parshall
