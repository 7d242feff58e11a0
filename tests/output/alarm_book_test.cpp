// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/alarms/alarm_book.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <time.h>

#include <nlohmann/json.hpp>

#include "pipeline/output/json/alarm_json.hpp"
#include "pipeline/output/text/alarm_text.hpp"

namespace parshall {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint64_t kSecond = 1'000'000'000, kNoon = 1'700'049'600 * kSecond;  // 2023-11-15, 12:00 UTC

TaskSets tasks_of(const std::vector<std::string>& specs, const std::string& alarms = "") {
  std::vector<TaskSpec> all;
  for (const std::string& spec : specs) all.push_back({.text = spec});
  TaskOptions options;
  options.alarms = alarms;
  return *TaskSets::make(all, options);
}

/// Finding about a source in a window of one second that begins `second` seconds after noon.
Event finding(const std::string& task, std::uint64_t second, std::uint32_t host, std::uint64_t value,
              std::vector<EventValue> more = {}) {
  static const auto part = std::make_shared<const KeyPart>(*KeyPart::parse("src"));
  Event event{.task = task,
              .window = {.length = {}, .number = kNoon / kSecond + second, .totals = {}},
              .part = part,
              .key = {},
              .values = {{"attempts", value}},
              .error = {}};
  event.key.ip_version = 4;
  event.key.address = {10, 0, static_cast<std::uint8_t>(host >> 8), static_cast<std::uint8_t>(host)};
  event.values.insert(event.values.end(), more.begin(), more.end());
  return event;
}

/// A book that tells the states of alarms as texts such as "began 10.0.0.1 5".
class Told {
 public:
  explicit Told(const TaskSets& tasks, bool by_clock = false) : book(tasks, by_clock) {}

  void take(const Event& event) { book.take(event, tell_); }
  void end_run(std::uint64_t second) { book.end_run(kNoon + second * kSecond, tell_); }
  void pass_time(AlarmBook::Clock::time_point now) { book.pass_time(now, tell_); }

  AlarmBook book;
  std::vector<Alarm> alarms;
  std::vector<std::string> texts;

 private:
  AlarmBook::Tell tell_ = [this](const Alarm& alarm) {
    alarms.push_back(alarm);
    const auto json = nlohmann::json::parse(alarm_json(alarm));
    texts.push_back(json["alarm"].get<std::string>() + " " + json["key"]["src_ip"].get<std::string>() + " " +
                    std::to_string(json["value"]["peak"].get<int>()));
  };
};

TEST(AlarmBook, FindingsInARowAreOneAlarmWithItsPeakAndLastValue) {
  const TaskSets tasks = tasks_of({"scans:hold-off=10s"});
  Told told(tasks);
  for (const auto& [second, value] : {std::pair(0, 5), std::pair(1, 9), std::pair(5, 7)})
    told.take(finding("scans", second, 1, value));
  told.take(finding("scans", 16, 2, 3));  // ten seconds after the end of the last window with host 1
  told.end_run(20);
  EXPECT_THAT(told.texts, ElementsAre("began 10.0.0.1 5", "ended 10.0.0.1 9", "began 10.0.0.2 3", "open 10.0.0.2 3"));
  const Alarm& ended = told.alarms[1];
  EXPECT_EQ(ended.begin_ns, kNoon);
  EXPECT_EQ(ended.end_ns, kNoon + 6 * kSecond);
  EXPECT_EQ(ended.windows, 3u);
  EXPECT_EQ(ended.id, told.alarms[0].id);
  EXPECT_NE(ended.id, told.alarms[2].id);
  EXPECT_THAT(ended.history.values(), ElementsAre(5, 9, 0, 0, 0, 7));
  const auto json = nlohmann::json::parse(alarm_json(ended));
  EXPECT_EQ(json["value"]["last"], 7);
  EXPECT_EQ(json["begin"], "2023-11-15T12:00:00.000000000Z");
  EXPECT_EQ(json["duration_s"], 6);
}

TEST(AlarmBook, AnAlarmEndsAtItsHoldOffAndNotBefore) {
  for (const std::uint64_t gap : {9u, 10u}) {
    const TaskSets tasks = tasks_of({"scans:hold-off=10s"});
    Told told(tasks);
    told.take(finding("scans", 0, 1, 5));
    told.take(finding("scans", 1 + gap, 1, 5));
    EXPECT_EQ(told.texts.size(), gap == 10 ? 3u : 1u) << gap;
  }
  const TaskSets tasks = tasks_of({"scans:hold-off=0"});
  Told told(tasks);
  told.take(finding("scans", 0, 1, 5));
  told.take(finding("scans", 1, 1, 6));
  EXPECT_EQ(told.texts.size(), 1u) << "windows without a gap are one alarm";
}

TEST(AlarmBook, TheEndOfTheRunEndsWhatHasBeenQuietForLongEnough) {
  for (const auto& [second, state] : {std::pair(60, "open"), std::pair(61, "ended")}) {
    const TaskSets tasks = tasks_of({"scans"});
    Told told(tasks);
    told.take(finding("scans", 0, 1, 5));
    told.end_run(second);
    EXPECT_THAT(told.texts.back(), HasSubstr(state));
  }
}

TEST(AlarmBook, WindowsOfOtherLengthsEndNoAlarm) {
  const TaskSets tasks = tasks_of({"scans:hold-off=5s", "scans:name=slow,window=1m,hold-off=5s"});
  Told told(tasks);
  told.take(finding("scans", 0, 1, 5));
  Event slow = finding("slow", 0, 2, 8);
  slow.window.length.amount = 60 * kSecond;
  slow.window.number = kNoon / (60 * kSecond) + 10;
  told.take(slow);
  EXPECT_THAT(told.texts, ElementsAre("began 10.0.0.1 5", "began 10.0.0.2 8"));
}

TEST(AlarmBook, QuietTrafficRaisesNoneUnlessAConditionSaysSo) {
  const std::vector<EventValue> few{{"packets", std::uint64_t{99}}, {"wire_bytes", std::uint64_t{1'000'000}}},
      slow{{"packets", std::uint64_t{1000}}, {"wire_bytes", std::uint64_t{12'499}}},
      enough{{"packets", std::uint64_t{100}}, {"wire_bytes", std::uint64_t{12'500}}};
  const TaskSets tasks = tasks_of({"heavy-hitters", "mine=packets > 1", "low:min-packets=0:packets > 1"});
  for (const auto& [task, values, count] :
       {std::tuple("heavy-hitters", few, 0u), std::tuple("heavy-hitters", slow, 0u),
        std::tuple("heavy-hitters", enough, 1u), std::tuple("mine", few, 1u), std::tuple("low", slow, 1u)}) {
    Told told(tasks);
    told.take(finding(task, 0, 1, 5, values));
    EXPECT_EQ(told.texts.size(), count) << task;
  }
  Told all(tasks_of({"mine=packets > 1"}, "min-packets=100"));
  all.take(finding("mine", 0, 1, 5, few));
  EXPECT_TRUE(all.texts.empty()) << "--alarms is of conditions, too";
}

TEST(AlarmBook, FindingsAboutAllTrafficCountAllOfIt) {
  const TaskSets tasks = tasks_of({"microbursts"});
  Told told(tasks);
  Event burst = finding("microbursts", 0, 0, 5);
  burst.part = nullptr;
  burst.window.totals.packets = 99;
  burst.window.totals.wire_bytes = 1'000'000;
  told.take(burst);
  EXPECT_EQ(told.book.list().begun, 0u);
  ++burst.window.totals.packets;
  told.book.take(burst, [](const Alarm&) {});
  EXPECT_EQ(told.book.list().begun, 1u);
}

TEST(AlarmBook, SummariesAndRecallAreNoAlarms) {
  Told told(tasks_of({"scans"}));
  for (const EventKind kind : {EventKind::summary, EventKind::recall}) {
    Event event = finding("scans", 0, 1, 5);
    event.kind = kind;
    told.take(event);
  }
  EXPECT_TRUE(told.texts.empty());
}

TEST(AlarmBook, MutedNetworksAndQuietHoursAreSaid) {
  ::setenv("TZ", "UTC", 1);
  ::tzset();
  const TaskSets tasks = tasks_of({"scans:mute=10.0.0.1+2001:db8::/32,quiet=11:00-12:00,hold-off=1h",
                                   "victims:severity=critical,quiet=00:00-24:00"});
  Told told(tasks);
  Event at_eleven = finding("scans", 0, 2, 5);
  at_eleven.window.number -= 3600;
  told.take(finding("scans", 0, 1, 5));
  EXPECT_EQ(told.alarms.back().muted, Alarm::Muted::network);
  told.take(at_eleven);
  EXPECT_EQ(told.alarms.back().muted, Alarm::Muted::quiet_hours);
  told.take(finding("scans", 0, 2, 6));  // its window ends after noon
  EXPECT_EQ(told.alarms.back().muted, Alarm::Muted::no);
  EXPECT_EQ(told.texts.back(), "unmuted 10.0.0.2 6");
  told.take(finding("victims", 0, 2, 6));
  EXPECT_EQ(told.alarms.back().muted, Alarm::Muted::no) << "critical";
}

TEST(AlarmBook, HoursMaySpanMidnight) {
  ::setenv("TZ", "UTC", 1);
  ::tzset();
  const auto night = *TimeOfDay::parse("22:00-06:00");
  const auto at = [](std::uint64_t hours) { return kNoon + hours * 3600 * kSecond; };
  EXPECT_FALSE(night.has(at(9)));
  EXPECT_TRUE(night.has(at(10)));
  EXPECT_TRUE(night.has(at(17)));
  EXPECT_FALSE(night.has(at(18)));
  for (const char* const wrong :
       {"", "22-06", "22:00", "22:00-22:00", "25:00-01:00", "24:01-01:00", "1:00-2:00", "22:60-01:00"})
    EXPECT_FALSE(TimeOfDay::parse(wrong)) << wrong;
}

TEST(AlarmBook, AFloodOfOneTaskLeavesRoomForAnotherAndIsCounted) {
  Told told(tasks_of({"scans", "victims"}));
  for (std::uint32_t host = 0; host < AlarmBook::kMostOpen + 50; ++host) told.take(finding("scans", 0, host, 5));
  told.take(finding("victims", 0, 1, 5));
  const AlarmList list = told.book.list();
  EXPECT_EQ(list.begun, AlarmBook::kMostOpen + 1);
  EXPECT_EQ(list.left_out, 50u);
  EXPECT_EQ(told.alarms.back().latest.task, "victims");
  EXPECT_THAT(alarms_text(list, 20), HasSubstr("50 findings began no alarm"));
  for (std::uint32_t host = 0; host < 50; ++host) told.take(finding("scans", 100, host, 5));
  EXPECT_EQ(told.book.list().open, 50u) << "those that ended have made room";
}

TEST(AlarmBook, EndedAlarmsAreForgottenOldestFirst) {
  Told told(tasks_of({"scans:hold-off=0"}));
  for (std::uint64_t second = 0; second < 2 * AlarmBook::kMostEnded; second += 2)
    told.take(finding("scans", second, static_cast<std::uint32_t>(second), 5));
  for (std::uint64_t second = 5000; second < 5100; second += 2) told.take(finding("scans", second, 1, 5));
  const AlarmList list = told.book.list();
  EXPECT_EQ(list.alarms.size(), AlarmBook::kMostEnded + 1);
  EXPECT_EQ(list.begun, AlarmBook::kMostEnded + 50);
  EXPECT_EQ(told.book.list(3).alarms.size(), 3u);
  EXPECT_EQ(told.book.list(3).alarms.back().begin_ns, kNoon + 5098 * kSecond);
}

TEST(AlarmBook, OnALinkTheClockEndsAnAlarm) {
  Told told(tasks_of({"scans:hold-off=10s"}), /*by_clock=*/true);
  const auto before = AlarmBook::Clock::now();
  told.take(finding("scans", 0, 1, 5));
  const auto now = AlarmBook::Clock::now();
  told.pass_time(before + std::chrono::seconds(11));
  EXPECT_EQ(told.texts.size(), 1u) << "its window may still be on the way";
  told.pass_time(now + std::chrono::seconds(13));
  EXPECT_THAT(told.texts, ElementsAre("began 10.0.0.1 5", "ended 10.0.0.1 5"));
  EXPECT_EQ(told.alarms.back().end_ns, kNoon + kSecond);
}

TEST(AlarmBook, WindowsOfPacketsMayTakeAnyTimeOnALink) {
  Told told(tasks_of({"scans:window=1000p,hold-off=1s"}), /*by_clock=*/true);
  Event event = finding("scans", 0, 1, 5);
  event.window = {.length = {WindowLength::Unit::packets, 1000}, .number = 1, .totals = {}};
  event.window.totals.first_ns = kNoon;
  event.window.totals.last_ns = kNoon + kSecond;
  told.take(event);
  told.pass_time(AlarmBook::Clock::now() + std::chrono::hours(1));
  EXPECT_THAT(told.texts, ElementsAre("began 10.0.0.1 5"));
  event.window.number = 2;
  event.window.totals.first_ns = kNoon + 3 * kSecond;
  event.window.totals.last_ns = kNoon + 4 * kSecond;
  told.take(event);
  EXPECT_THAT(told.texts, ElementsAre("began 10.0.0.1 5", "ended 10.0.0.1 5", "began 10.0.0.1 5"));
}

TEST(AlarmBook, TheMostSevereOpenAlarmsAreListedFirst) {
  Told told(tasks_of({"heavy-hitters:min-packets=0,min-rate=0,hold-off=3s", "floods:min-rate=0"}));
  told.take(finding("heavy-hitters", 0, 99, 5));
  told.take(finding("floods", 5, 1, 5));
  for (std::uint32_t host = 2; host < 60; ++host) told.take(finding("heavy-hitters", 6, host, 5));
  const AlarmList list = told.book.list(3);
  ASSERT_EQ(list.alarms.size(), 3u);
  EXPECT_EQ(list.alarms[0].latest.task, "floods");
  EXPECT_EQ(list.open, 59u);
  EXPECT_TRUE(std::ranges::none_of(list.alarms, &Alarm::is_over));
  EXPECT_EQ(told.book.list(60).alarms.size(), 60u);
}

TEST(AlarmBook, AFindingMayHoldForLongerThanTheHoldOff) {
  for (const std::uint64_t second : {30u, 31u}) {
    Told told(tasks_of({"beacons:hold-off=10s"}));
    Event contact = finding("beacons", 0, 1, 5);
    contact.holds_ns = 30 * kSecond;
    told.take(contact);
    contact.window.number += second;
    told.take(contact);
    EXPECT_EQ(told.texts.size(), second == 31 ? 3u : 1u);
  }
}

TEST(AlarmHistory, KeepsThePeakOfEachStretchHoweverLongItTakes) {
  AlarmHistory history;
  for (std::uint64_t window = 0; window < 1000; ++window) history.add(window, window == 500 ? 9 : 1);
  EXPECT_EQ(history.stretch(), 16u);
  ASSERT_EQ(history.values().size(), 63u);
  EXPECT_EQ(history.values()[500 / 16], 9);
  EXPECT_EQ(std::ranges::count(history.values(), 1), 62);
  history.add(~std::uint64_t{0} - 1, 2);
  EXPECT_LE(history.values().size(), AlarmHistory::kMost);
  EXPECT_EQ(history.values()[0], 9);
}

TEST(AlarmRules, WhatIsWrongIsNamed) {
  for (const auto& [text, mention] :
       {std::pair("scans:severity=bad", "severity=bad"), std::pair("scans:mute=10.0.0.0/33", "mute=10.0.0.0/33"),
        std::pair("scans:quiet=noon", "quiet=noon"), std::pair("scans:hold-off=x", "hold-off=x"),
        std::pair("scans:min-packets=-1", "min-packets=-1")}) {
    const TaskSpec spec{.text = text};
    const auto made = TaskSets::make({&spec, 1}, {});
    ASSERT_FALSE(made.has_value());
    EXPECT_THAT(made.error().message, HasSubstr(mention));
  }
  TaskOptions options;
  options.alarms = "hold-of=3s";
  const TaskSpec spec{.text = "scans"};
  const auto made = TaskSets::make({&spec, 1}, options);
  ASSERT_FALSE(made.has_value());
  EXPECT_THAT(made.error().message, HasSubstr("--alarms"));
  EXPECT_THAT(made.error().message, HasSubstr("hold-off"));
}

}  // namespace
}  // namespace parshall
