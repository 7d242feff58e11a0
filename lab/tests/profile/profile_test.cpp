// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/machine.hpp"
#include "lab/profile/lookups.hpp"
#include "lab/profile/report.hpp"
#include "lab/profile/workloads.hpp"
#include "pipeline/measure/tasks/fields.hpp"

namespace parshall::lab {
namespace {

using ::testing::HasSubstr;

constexpr double kRate = 1e7;
constexpr WindowLength kWindow{WindowLength::Unit::ns, 10'000'000};  // 100,000 packets
const auto kNever = [] { return false; };

TEST(ProfileTimes, OnesThatAnInterruptMetAreDroppedAndCounted) {
  std::vector<double> ns(1000, 100);
  for (std::size_t i = 0; i < ns.size(); ++i) ns[i] += static_cast<double>(i % 10);
  ns[17] = 1e6, ns[500] = 5000;
  const Times times = without_interrupts(ns);
  EXPECT_EQ(times.dropped, 2u);
  EXPECT_EQ(times.ns.size(), 998u);
  EXPECT_LE(std::ranges::max(times.ns), 109);
}

TEST(ProfileTimes, ATailIsNoInterrupt) {
  std::vector<double> ns(1000, 50);
  ns[3] = 290;
  EXPECT_EQ(without_interrupts(ns).dropped, 0u) << "the range is 0, since most times are the same";
  EXPECT_EQ(without_interrupts({}).ns.size(), 0u);
}

TEST(ProfileLookups, FindsWhatIsThereAndStartsWhatIsNot) {
  LookupProbe probe(20'000, 7);
  ASSERT_TRUE(probe.fill(10'001, kNever));
  EXPECT_EQ(probe.flows(), 10'001u);
  LookupProbe::Ticks one, flushed, batched, fresh, fresh_batched;
  probe.warm();
  probe.time_lookups(1000, Entries::as_they_are, one);
  probe.time_lookups(300, Entries::flushed, flushed);
  probe.time_batched_lookups(2, batched);
  probe.time_insertions(500, fresh);
  probe.time_batched_insertions(3, fresh_batched);
  EXPECT_TRUE(probe.right());
  EXPECT_EQ(probe.flows(), 10'501u + 3 * LookupProbe::kBatchedLookups);
  EXPECT_EQ(one.size(), 1000u);
  EXPECT_EQ(flushed.size(), 300u);
  EXPECT_EQ(batched.size(), 2u);
  EXPECT_EQ(fresh.size(), 500u);
  EXPECT_EQ(fresh_batched.size(), 3u);
  for (const Times& times : {probe.one_at_a_time(one), probe.one_at_a_time(fresh), LookupProbe::per_lookup(batched)}) {
    EXPECT_FALSE(times.ns.empty());
    for (const double ns : times.ns) EXPECT_GT(ns, 0);
  }
}

TEST(ProfileLookups, ATableThatIsTooSmallIsNoticed) {
  LookupProbe probe(1000, 7);
  ASSERT_TRUE(probe.fill(1000, kNever));
  EXPECT_TRUE(probe.right());
  LookupProbe::Ticks ticks;
  probe.time_insertions(10, ticks);
  EXPECT_FALSE(probe.right()) << "flows have ended to make room";
}

TEST(ProfileLookups, StopsWhereItIsAsked) {
  EXPECT_FALSE(LookupProbe(20'000, 7).fill(10'000, [] { return true; }));
}

TEST(ProfileLookups, TouchesNoMoreThanItsLines) {
  for (const std::size_t flows : {1000ul, 100'000ul, 5'000'000ul}) {
    EXPECT_LT(LookupProbe::touched_bytes(flows), LookupProbe::lines(flows) * 64);
    EXPECT_LT(LookupProbe::touched_bytes(flows), flows * 64);
    EXPECT_GT(LookupProbe::memory_bytes(flows), LookupProbe::lines(flows) * 64);
  }
}

TEST(ProfileWorkloads, EveryMeasureOfAFieldIsOnceAmongTheKindsOfWork) {
  std::multiset<std::string> names;
  for (const Workload& kind : kinds_of_work(kWindow)) names.insert(kind.name);
  for (const char* name : {"window rows", "iat", "tcp", "rtt_history"}) EXPECT_EQ(names.count(name), 1u) << name;
  for (const FlowField& field : flow_fields()) {
    if (field.measure == nullptr) continue;
    EXPECT_EQ(names.count(field.measure()->name()), 1u) << field.name;
  }
}

TEST(ProfileWorkloads, AKindOfWorkHasWhatItsMeasureNeeds) {
  for (const Workload& kind : kinds_of_work(kWindow)) {
    ASSERT_EQ(kind.windows.size(), 1u);
    EXPECT_TRUE(kind.tasks.empty());
    for (const auto& placed : kind.windows[0].measures->measures()) {
      const FindingNeeds needs = placed.measure->needs();
      EXPECT_TRUE(!needs.iat || kind.findings[0].iat) << kind.name;
      EXPECT_TRUE(!needs.tcp || kind.findings[0].tcp) << kind.name;
      EXPECT_TRUE(!needs.rtt_history || kind.findings[0].rtt_history) << kind.name;
    }
  }
}

constexpr const char* kStates = R"(
default = "light"
[[state]]
name = "light"
tasks = ["count:window=10ms"]
[[state]]
name = "deep"
tasks = ["count:window=10ms", "retransmissions:window=10ms"]
[[rule]]
reported_by = "retransmissions"
state = "deep"
)";

Result<std::vector<Workload>> states() {
  const auto file = StateFile::parse(kStates, "states.toml");
  if (!file) return file.error();
  return workloads_of(*file, {.keys = 1024, .seed = 3});
}

TEST(ProfileWorkloads, EveryStateHasAllFlowsAndNoRules) {
  const auto made = states();
  ASSERT_TRUE(made) << made.error().message;
  ASSERT_EQ(made->size(), 2u);
  EXPECT_EQ((*made)[0].name, "light");
  EXPECT_THAT((*made)[0].tasks, ::testing::ElementsAre("count:window=10ms"));
  EXPECT_THAT((*made)[1].tasks, ::testing::ElementsAre("count:window=10ms", "retransmissions:window=10ms"));
  for (std::size_t i = 0; i < made->size(); ++i) {
    const StatePlan& plan = *(*made)[i].states;
    EXPECT_EQ(plan.first, i);
    EXPECT_TRUE(plan.rules.empty() && plan.outcomes.empty());
    EXPECT_EQ(plan.names.size(), 2u);
  }
}

TEST(ProfileWorkloads, WhatIsWrongWithStatesIsSaid) {
  const auto file = StateFile::parse("default = \"a\"\n[[state]]\nname = \"a\"\ntasks = [\"nosuch\"]\n", "s.toml");
  ASSERT_TRUE(file);
  const auto made = workloads_of(*file, {});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("nosuch"));
}

std::vector<Workload> with_windows(const std::vector<WindowLength>& lengths) {
  Workload workload{.name = "some", .tasks = {}, .windows = {}};
  for (const WindowLength length : lengths) workload.windows.emplace_back(length);
  return {workload};
}

TEST(ProfileWorkloads, ASampleIsOfWholeWindows) {
  const SampleLength one = sample_length(with_windows({kWindow}), kRate);
  EXPECT_EQ(one.packets, 300'000u);
  EXPECT_TRUE(one.whole);
  const SampleLength two = sample_length(with_windows({kWindow, {WindowLength::Unit::packets, 2'000'000}}), kRate);
  EXPECT_EQ(two.packets, 2'000'000u);
  EXPECT_LE(two.part, 16 * 100'000u) << "a worker waits where many windows are unread";
  EXPECT_FALSE(sample_length(with_windows({{WindowLength::Unit::ns, 3'600'000'000'000}}), kRate).whole);
  EXPECT_GE(sample_length({}, kRate).packets, 1u << 18);
}

WorkloadSweep sweep(std::vector<Workload> workloads, std::size_t flows) {
  return {.table = *find_table("bucketed", Identity::exact),
          .workloads = std::move(workloads),
          .flows = flows,
          .rate_pps = kRate,
          .rounds = 3};
}

TEST(ProfileWorkloads, AllStatesAreMeasuredBesideCountingAndInput) {
  const auto made = states();
  ASSERT_TRUE(made);
  const WorkloadSweep plan = sweep(*made, 1000);
  const auto frames = Frames::of_spec(
      {.flows = 1000, .protocol = ProtocolMix::connections, .packets = packets_wanted(plan), .rate_pps = kRate});
  ASSERT_TRUE(frames) << frames.error().message;
  const auto costs = measure_workloads(plan, *frames, kNever);
  ASSERT_TRUE(costs) << costs.error().message;
  ASSERT_TRUE(*costs);
  ASSERT_EQ((*costs)->workloads.size(), 2u);
  for (const Cost& cost : {(*costs)->input, (*costs)->counting, (*costs)->workloads[0], (*costs)->workloads[1]}) {
    EXPECT_GT(cost.median_ns, 0);
    EXPECT_EQ(cost.samples, 3u);
  }
  EXPECT_EQ((*costs)->counting.ratio, 1);
  const auto stopped = measure_workloads(plan, *frames, [] { return true; });
  ASSERT_TRUE(stopped) << stopped.error().message;
  EXPECT_FALSE(*stopped);
}

// Windows of 10 and 700 ms: in one sample end more of the short ones than a worker keeps unread.
TEST(ProfileWorkloads, WindowsOfVeryDifferentLengthsAreAllRead) {
  const WorkloadSweep plan = sweep(with_windows({kWindow, {WindowLength::Unit::ns, 700'000'000}}), 100);
  const auto frames = Frames::of_spec({.flows = 100, .packets = 100'000, .rate_pps = kRate});
  ASSERT_TRUE(frames);
  const auto costs = measure_workloads(plan, *frames, kNever);
  ASSERT_TRUE(costs) << costs.error().message;
  EXPECT_TRUE(*costs);
}

ProfileFigures figures() {
  ProfileFigures made;
  made.timed = {{.what = "a packet", .ns = 5, .mean_ns = 6, .low_ns = 4, .high_ns = 7, .samples = 20, .dropped = 1},
                {.what = "more for it", .ns = 2, .low_ns = 1, .high_ns = 3, .samples = 3}};
  std::vector<double> cached_ns, uncached_ns;
  for (int i = 0; i < 1000; ++i) {
    cached_ns.push_back(50 + i % 37);
    uncached_ns.push_back(150 + i % 101);
  }
  made.cached.fits = *fit_all(cached_ns);
  made.uncached.fits = *fit_all(uncached_ns);
  made.notes = {"first", "second"};
  return made;
}

TEST(ProfileReport, ARowForEachTimeAndEachModel) {
  const Part part = profile_part(figures());
  ASSERT_EQ(part.rows.size(), 2u + 6);
  for (const auto& row : part.rows) EXPECT_EQ(row.size(), profile_columns().size());
  EXPECT_EQ(std::get<std::string>(part.rows[0][0]), "a packet");
  EXPECT_EQ(std::get<double>(part.rows[0][1]), 5);
  EXPECT_EQ(part.verdict, "first\nsecond");
  const auto bic = std::ranges::find(profile_columns(), "bic_more", &Column::name) - profile_columns().begin();
  for (const std::size_t best : {2u, 5u}) {
    EXPECT_EQ(std::get<double>(part.rows[best][static_cast<std::size_t>(bic)]), 0);
    EXPECT_GT(std::get<double>(part.rows[best + 1][static_cast<std::size_t>(bic)]), 0);
  }
}

}  // namespace
}  // namespace parshall::lab
