// SPDX-License-Identifier: Apache-2.0
#include "parshall/wiring.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace parshall {
namespace {

using ::testing::HasSubstr;

std::string wrong(const Plan& plan) {
  const auto wiring = wire(plan);
  return wiring ? "nothing" : wiring.error().message;
}

TEST(Wire, ChecksAPlanFromCodeAsOneFromTheCommandLine) {
  Plan plan;
  EXPECT_THAT(wrong(plan), HasSubstr("give one source"));
  plan.source.traffic = "flows=10";
  EXPECT_EQ(wrong(plan), "nothing");
  plan.source.file = "a.pcap";
  EXPECT_THAT(wrong(plan), HasSubstr("give one source"));
  plan.source.file.clear();
  Plan unknown = plan;
  unknown.flows.table = "nosuch";
  EXPECT_THAT(wrong(unknown), HasSubstr("no table \"nosuch\""));
  unknown = plan;
  unknown.threads.model = "cooperative";
  EXPECT_THAT(wrong(unknown), HasSubstr("no thread model \"cooperative\""));
  unknown = plan;
  unknown.source.filter = "tcp prot 80";
  EXPECT_NE(wrong(unknown), "nothing");
  unknown = plan;
  unknown.tasks.names = {"nosuch"};
  EXPECT_NE(wrong(unknown), "nothing");
}

TEST(Wire, GivesASessionWhatThePlanSays) {
  Plan plan;
  plan.source.file = "a.pcap";
  plan.source.duration_ns = 5;
  plan.flows.idle_ns = 7;
  plan.flows.seed = 9;
  plan.threads.workers = 3;
  const auto wiring = wire(plan);
  ASSERT_TRUE(wiring) << wiring.error().message;
  EXPECT_EQ(wiring->session.limits.packet_time_ns, 5u);
  EXPECT_EQ(wiring->wall_duration_ns, 0u);
  EXPECT_EQ(wiring->session.stage.timeouts.idle_ns, 7u);
  EXPECT_EQ(wiring->session.seed, 9u);
  plan.flows.linger_ns = 7;
  EXPECT_THAT(wrong(plan), HasSubstr("--linger"));
  plan.flows.linger_ns = 6;
  EXPECT_EQ(wire(plan)->session.stage.timeouts.linger_ns, 6u);
  EXPECT_EQ(wiring->session.workers, 3u);
  plan.source = {.interface = "eth0", .duration_ns = 5};
  const auto live = wire(plan);
  ASSERT_TRUE(live);
  EXPECT_EQ(live->wall_duration_ns, 5u);
  EXPECT_EQ(live->session.limits.packet_time_ns, 0u);
}

TEST(Wire, GivesASessionWhatTheRunNeeds) {
  Plan plan;
  plan.source.file = "a.pcap";
  const RunNeeds needs{.snapshots = false,
                       .keeps_ended = false,
                       .counts_bytes = true,
                       .commits_first = true,
                       .every_ns = 3,
                       .spool_bytes = 4096};
  const auto capture = wire(plan, needs);
  ASSERT_TRUE(capture) << capture.error().message;
  EXPECT_FALSE(capture->session.snapshots);
  EXPECT_FALSE(capture->session.keeps_ended);
  EXPECT_TRUE(capture->session.stage.counts_bytes);
  EXPECT_TRUE(capture->session.commits_first);
  EXPECT_EQ(capture->session.limits.pause_every_ns, 3u);
  EXPECT_EQ(capture->session.ended_bytes, 4096u);
  EXPECT_FALSE(capture->point) << "no link";
  plan.source = {.interface = "eth0"};
  const auto live = wire(plan, {.every_ns = 3, .packets_ns = 6});
  ASSERT_TRUE(live) << live.error().message;
  EXPECT_EQ(live->session.limits.pause_every_ns, 0u) << "a link does not wait for a report";
  EXPECT_EQ(live->session.limits.packet_time_ns, 6u);
  ASSERT_TRUE(live->point);
  EXPECT_EQ(live->point->name, "eth0");
}

TEST(Wire, UsesWhatIsHeld) {
  Plan plan;
  plan.source = {.interface = "nosuch0", .filter = "no filter"};
  plan.tasks.states = "nosuch.toml";
  Held held;
  held.interface_number = 7;
  held.filter = *BpfFilter::compile("udp");
  held.texts.states =
      "default = \"light\"\n[[state]]\nname = \"light\"\ntasks = [\"count\"]\n"
      "[[state]]\nname = \"deep\"\ntasks = [\"count\", \"retransmissions\"]\nlighter = \"light\"\n";
  const auto wiring = wire(plan, {.recall = true}, held);
  ASSERT_TRUE(wiring) << wiring.error().message;
  EXPECT_TRUE(wiring->session.filter);
  EXPECT_EQ(wiring->point->index, 7u);
  EXPECT_EQ(wiring->tasks.sets().front().members().size(), 2u);
  EXPECT_TRUE(wiring->session.stage.control->recalls->windows) << "the recall of windows";
  EXPECT_THAT(wrong(plan), HasSubstr("no filter")) << "what is not held is made from the plan";
}

}  // namespace
}  // namespace parshall
