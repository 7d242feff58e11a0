// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/states/flow_states.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <map>

#include "base/random.hpp"
#include "pipeline/measure/flow_tracker.hpp"

namespace parshall {
namespace {

using Parts = std::vector<StateShares::Part>;

std::map<int, int> counts_of(const StateShares& shares, std::uint8_t state) {
  std::map<int, int> counts;
  for (int hash = 0; hash < 1 << 16; ++hash) ++counts[shares.effective(state, static_cast<std::uint16_t>(hash), 0)];
  return counts;
}

TEST(StateShares, FlowsHaveTheirOwnStateAtFirst) {
  const StateShares shares(64);
  for (std::uint8_t state = 0; state < 64; ++state)
    EXPECT_EQ(counts_of(shares, state), (std::map<int, int>{{state, 1 << 16}}));
}

TEST(StateShares, EachPartGetsItsShareOfTheHashes) {
  StateShares shares(4);
  shares.set(3, Parts{{0, 0.25}, {2, 0.5}, {3, 0.25}});
  EXPECT_EQ(counts_of(shares, 3), (std::map<int, int>{{0, 16384}, {2, 32768}, {3, 16384}}));
  EXPECT_EQ(counts_of(shares, 2), (std::map<int, int>{{2, 65536}})) << "other states are as they were";
  EXPECT_EQ(shares.effective(3, 0, 0), 0) << "in the order given";
  EXPECT_EQ(shares.effective(3, 16383, 0), 0);
  EXPECT_EQ(shares.effective(3, 16384, 0), 2);
  EXPECT_EQ(shares.effective(3, 65535, 0), 3);
}

TEST(StateShares, NoHashIsWithoutAStateWhateverRoundingLeaves) {
  StateShares shares(3);
  for (const Parts& parts :
       {Parts{{0, 1.0 / 3}, {1, 1.0 / 3}, {2, 1.0 / 3}}, Parts{{0, 1e-9}, {1, 1 - 2e-9}}, Parts{{0, 0}, {2, 1 + 1e-12}},
        Parts{{1, 1e-12}}, Parts{{0, 1e-9}, {1, 1e-9}, {2, 1 - 2e-9}}}) {
    shares.set(2, parts);
    int all = 0;
    for (const auto& [state, count] : counts_of(shares, 2)) {
      EXPECT_LT(state, 3);
      all += count;
    }
    EXPECT_EQ(all, 1 << 16);
  }
}

TEST(StateShares, FewFlowsChangeWhenSharesDo) {
  StateShares before(3), after(3);
  before.set(2, Parts{{0, 0.30}, {1, 0.30}, {2, 0.40}});
  after.set(2, Parts{{0, 0.31}, {1, 0.30}, {2, 0.39}});
  int changed = 0;
  for (int hash = 0; hash < 1 << 16; ++hash)
    changed += before.effective(2, static_cast<std::uint16_t>(hash), 0) !=
               after.effective(2, static_cast<std::uint16_t>(hash), 0);
  EXPECT_NEAR(changed, 0.02 * (1 << 16), 2);
}

TEST(StateShares, FlowsOfAWeightMayHaveStatesOfTheirOwn) {
  StateShares shares(3);
  shares.set(2, Parts{{0, 0.25}, {2, 0.75}});
  EXPECT_EQ(shares.effective(2, 60000, FlowWeight::kClasses - 1), 2) << "none are heavy at first";
  for (std::size_t weight = 4; weight < FlowWeight::kClasses; ++weight) shares.set(2, weight, Parts{{1, 1}});
  EXPECT_EQ(shares.effective(2, 60000, 4), 1);
  EXPECT_EQ(shares.effective(2, 60000, 7), 1);
  EXPECT_EQ(shares.effective(2, 60000, 3), 2);
  EXPECT_EQ(shares.effective(2, 10, 3), 0);
  EXPECT_EQ(shares.effective(0, 60000, 7), 0);
}

TEST(FlowWeight, ClassesDouble) {
  for (const auto& [packets, weight] :
       {std::pair{0u, 0}, {7u, 0}, {8u, 1}, {15u, 1}, {16u, 2}, {127u, 4}, {511u, 6}, {512u, 7}, {4'000'000'000u, 7}})
    EXPECT_EQ(FlowWeight::of(packets), weight) << packets;
}

FlowKey states_key(std::uint32_t number) {
  FlowKey key;
  key.ip_version = 4;
  key.protocol = 6;
  std::memcpy(key.address.data(), &number, sizeof number);
  key.address[4] = 9;
  key.src_port_bytes = {1, 2};
  return key;
}

std::shared_ptr<const StatePlan> plan_of(const std::string& text) {
  auto file = StateFile::parse(text, "test");
  EXPECT_TRUE(file) << (file ? "" : file.error().message);
  return std::make_shared<const StatePlan>(file->plan);
}

constexpr const char* kTwo = R"(
default = "heavy"
state = [ { name = "light", tasks = ["count"] }, { name = "heavy", tasks = ["bursty"], lighter = "light" } ]
)";

TEST(FlowStates, SharesOfFlowsAreChosenByARuleBothDirectionsAlike) {
  FlowStates states(plan_of(R"(
default = "a"
state = [ { name = "a", tasks = ["count"] }, { name = "b", tasks = ["bursty"] } , { name = "c", tasks = ["entropy"] } ]
rule = [ { state = "b", share = 0.5 }, { state = "c", share = 0.25 } ]
)"),
                    /*can_wait=*/true, /*seed=*/7);
  std::array<int, 3> counts{};
  for (std::uint32_t i = 0; i < 40'000; ++i) {
    const FlowKey key = states_key(i);
    const std::uint8_t state = states.state_of(key, states.rules_for(key));
    ++counts[state];
    ASSERT_EQ(states.state_of(opposite(key), states.rules_for(opposite(key))), state);
  }
  EXPECT_NEAR(counts[0], 15'000, 500);
  EXPECT_NEAR(counts[1], 15'000, 500) << "a half, of which the next rule takes a quarter: they are drawn anew";
  EXPECT_NEAR(counts[2], 10'000, 450);
}

TEST(FlowStates, WhichFlowIsReducedDependsOnAHashOfTheConnectionAndTheSeed) {
  FlowStates one(plan_of(kTwo), true, 7), other(plan_of(kTwo), true, 8);
  int same = 0, low = 0;
  for (std::uint32_t i = 0; i < 40'000; ++i) {
    ASSERT_EQ(one.hash_of(states_key(i)), one.hash_of(opposite(states_key(i))));
    same += (one.hash_of(states_key(i)) < 1 << 15) == (other.hash_of(states_key(i)) < 1 << 15);
    low += one.hash_of(states_key(i)) < 1 << 15;
  }
  EXPECT_NEAR(low, 20'000, 500);
  EXPECT_NEAR(same, 20'000, 500);
}

/// A tracker of two states, of which only the heavier asks for times between packets.
class GivingWay : public ::testing::Test {
 protected:
  PacketFinding find(std::uint32_t slot, std::uint64_t time_ns) {
    const bool starts = !known_[slot];
    known_[slot] = true;
    const RowUpdate packet{slot, starts, false, false, CountWord::packet(100, 114, 0), time_ns, {}};
    PacketFinding finding;
    tracker_.find_states({&packet, 1}, {&finding, 1}, [](std::uint32_t at) { return states_key(at); });
    tracker_.find({&packet, 1}, {}, {&finding, 1}, [](std::uint32_t at) { return states_key(at); });
    return finding;
  }
  void give_way(double share) {
    states_.change_shares([share](StateShares& shares) { shares.set(1, Parts{{0, share}, {1, 1 - share}}); });
  }

  FlowStates states_{plan_of(kTwo), /*can_wait=*/true, /*seed=*/7};
  SlotRows slots_{1024, 32};
  FlowTracker tracker_{{{}, {.iat = true}}, &states_, slots_, 7};
  std::array<bool, 1024> known_{};
};

TEST_F(GivingWay, AFlowIsFoundOutAboutAsLongAsItDoesNot) {
  EXPECT_EQ(find(5, 1000).effective_state, 1);
  EXPECT_EQ(find(5, 1700).iat_ns, 700u);
  give_way(1);
  const PacketFinding away = find(5, 1800);
  EXPECT_EQ(away.state, 1) << "its state is the same";
  EXPECT_EQ(away.effective_state, 0);
  EXPECT_EQ(away.iat_ns, PacketFinding::kNone);
  give_way(0);
  EXPECT_EQ(find(5, 2000).iat_ns, PacketFinding::kNone) << "it was not looked at meanwhile";
  EXPECT_EQ(find(5, 2300).iat_ns, 300u);
}

TEST_F(GivingWay, PacketsAreCountedByTheStatesThatFlowsWouldHaveAndThoseTheyHave) {
  give_way(0.5);
  std::uint64_t light = 0;
  for (std::uint32_t slot = 0; slot < 1000; ++slot)
    for (int i = 0; i < 3; ++i) light += find(slot, 1000 + slot).effective_state == 0;
  EXPECT_NEAR(static_cast<double>(light), 1500, 200);
  EXPECT_EQ(light % 3, 0u) << "all packets of a flow alike";
  EXPECT_EQ(tracker_.state_packets(0), 0u);
  EXPECT_EQ(tracker_.state_packets(1), 3000u);
  EXPECT_EQ(tracker_.effective_packets()[0], light);
  EXPECT_EQ(tracker_.effective_packets()[1], 3000 - light);
  EXPECT_EQ(tracker_.kept_packets()[1], 3000 - light);
  EXPECT_EQ(tracker_.new_flows(), 1000u);
}

TEST_F(GivingWay, FlowsAreWeighedByWhatTheyHadBetweenTwoChanges) {
  const auto weigh = [this] {
    states_.change_shares([](StateShares& shares) {
      for (std::size_t weight = 3; weight < FlowWeight::kClasses; ++weight) shares.set(1, weight, Parts{{0, 1}});
    });  // from 32 packets on
    states_.weigh();
  };
  const auto find_many = [this](int times) {
    std::uint8_t state = find(5, 1000).effective_state;
    for (int i = 1; i < times; ++i) EXPECT_EQ(find(5, 1000).effective_state, state) << "none changes between";
    return state;
  };
  weigh();
  EXPECT_EQ(find_many(70), 1) << "nothing is known of it";
  weigh();
  EXPECT_EQ(find_many(1), 0) << "weight 4";
  weigh();
  EXPECT_EQ(find_many(1), 0) << "still 3: not at once";
  weigh();
  EXPECT_EQ(find_many(40), 1) << "2";
  weigh();
  EXPECT_EQ(find_many(31), 0) << "3";
  for (const int packets : {31, 10}) {
    weigh();
    EXPECT_EQ(find_many(packets), 0) << "one class less is near enough: it would change to and fro";
  }
  weigh();
  EXPECT_EQ(find_many(100'000), 1) << "2";
  weigh();
  EXPECT_EQ(find_many(1), 0) << "the most there can be";
  for (int i = 0; i < 3; ++i) weigh();
  EXPECT_EQ(find_many(1), 0) << "4: one less for each time that it had no packet";
  for (int i = 0; i < 50; ++i) weigh();
  EXPECT_EQ(find_many(1), 1) << "0";
  const auto weighed = tracker_.weighed_packets().subspan(FlowWeight::kClasses);
  EXPECT_EQ((std::vector(weighed.begin(), weighed.end())),
            (std::vector<std::uint64_t>{71, 0, 100'040, 73, 2, 0, 0, 1}));
}

/// A connection whose data is acknowledged a little later each time, of which the heavier state asks for round trips.
TEST(GivingWayOfConnections, RoundTripsStayAndWhatWasNotAcknowledgedDoesNot) {
  FlowStates states(plan_of(kTwo), /*can_wait=*/true, /*seed=*/7);
  SlotRows slots(16, 32);
  FlowTracker tracker({{}, {.tcp = true, .rtt_history = true}}, &states, slots, 7);
  const FlowKey data = states_key(3), acks = opposite(data);
  std::array<bool, 2> known{};
  std::uint64_t now_ns = 1'000'000;
  const auto find = [&](std::uint32_t slot, const TcpFacts& tcp) {
    const RowUpdate packet{
        slot, !std::exchange(known[slot], true), false, false, CountWord::packet(200, 214, 0x10), now_ns, {}};
    PacketFinding finding;
    tracker.find_states({&packet, 1}, {&finding, 1}, [&](std::uint32_t at) { return at == 0 ? data : acks; });
    tracker.find({&packet, 1}, {&tcp, 1}, {&finding, 1}, [&](std::uint32_t at) { return at == 0 ? data : acks; });
    return finding;
  };
  std::uint32_t seq = 1000;
  const auto send = [&] {
    find(0, {.seq = seq, .ack = 77, .payload_bytes = 100, .present = true});
    seq += 100;
  };
  const auto acknowledge = [&] {
    now_ns += 500;
    return find(1, {.seq = 77, .ack = seq, .present = true});
  };
  const auto give_way = [&](double share) {
    states.change_shares([share](StateShares& shares) { shares.set(1, Parts{{0, share}, {1, 1 - share}}); });
  };
  for (int i = 0; i < 4; ++i) {
    send();
    const PacketFinding finding = acknowledge();
    ASSERT_EQ(finding.tcp.rtt_ns, 500u);
    ASSERT_EQ(finding.rtts_before.samples, static_cast<std::uint64_t>(i));
  }
  send();
  give_way(1);
  EXPECT_FALSE(acknowledge().is_tcp);
  send();
  give_way(0);
  now_ns += 1'000'000;
  const PacketFinding late = acknowledge();
  EXPECT_EQ(late.tcp.rtt_ns, TcpFinding::kNone) << "of what was sent before, or meanwhile, nothing is known";
  EXPECT_EQ(late.effective_before, 0) << "its window was not seen from the start";
  EXPECT_EQ(late.effective_state, 1);
  send();
  const PacketFinding back = acknowledge();
  EXPECT_EQ(back.tcp.rtt_ns, 500u);
  EXPECT_EQ(back.rtts_before.samples, 4u) << "those from before";
  EXPECT_FALSE(back.tcp.marks.has(TcpMark::retransmission));
}

TEST(StateFile, ALighterStateMayStandBeforeOrBehind) {
  const auto plan = plan_of(R"(
default = "b"
state = [ { name = "b", tasks = ["bursty"], lighter = "c" }, { name = "a", tasks = ["count"] },
          { name = "c", tasks = ["entropy"], lighter = "a" } ]
)");
  EXPECT_EQ(plan->lighter, (std::vector<std::uint8_t>{2, 1, 1}));
  EXPECT_TRUE(plan->has_lighter());
  EXPECT_FALSE(plan_of("default = \"a\"\nstate = [ { name = \"a\" } ]")->has_lighter());
}

TEST(StateFile, ACircleOfLighterStatesIsRefusedWhereverItIs) {
  const auto error_of = [](std::vector<std::string> lighter) {
    std::string text = "default = \"s0\"\n";
    for (std::size_t i = 0; i < lighter.size(); ++i)
      text += "[[state]]\nname = \"s" + std::to_string(i) + "\"\n" +
              (lighter[i].empty() ? "" : "lighter = \"" + lighter[i] + "\"\n");
    const auto file = StateFile::parse(text, "test");
    return file ? std::string() : file.error().message;
  };
  EXPECT_EQ(error_of({"", "s0", "s1"}), "");
  EXPECT_EQ(error_of({"s1", "s2", ""}), "");
  EXPECT_EQ(error_of({"s0"}), "test, line 4, column 11: s0 is its own lighter state");
  EXPECT_EQ(error_of({"s1", "s0"}), "test, line 7, column 11: s1 is its own lighter state");
  EXPECT_EQ(error_of({"s2", "s0", "s1"}), "test, line 10, column 11: s2 is its own lighter state");
  EXPECT_EQ(error_of({"s1", "s2", "s0", ""}), "test, line 10, column 11: s2 is its own lighter state");
  EXPECT_EQ(error_of({"s1", "s2", "s3", "s1"}), "test, line 13, column 11: s3 is its own lighter state")
      << "with a way into the circle";
  EXPECT_EQ(error_of({"nobody"}), "test, line 4, column 11: no state nobody; there is s0");
}

}  // namespace
}  // namespace parshall
