// SPDX-License-Identifier: Apache-2.0
// The loop closed: a queue in front of a worker whose packets take what is done for them.
#include "control/task_controller.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "base/random.hpp"

namespace parshall {
namespace {

constexpr double kSpanNs = 10e6, kStep = 20e3, kPlaces = 4096;
constexpr std::size_t kWeights = FlowWeight::kClasses;

/// What packets take in fact, where it is not what was given.
struct Site {
  std::function<double(double)> rate_pps = [](double) { return 5e6; };  ///< by time in s
  double base_ns = 80;
  std::vector<double> part_ns{60, 8, 10};
  double slower = 1;                                                  ///< than given
  double noise = 0;                                                   ///< of the rate, of it
  std::function<double(double)> stolen = [](double) { return 0.0; };  ///< share of the time that others take, unseen
  std::function<double(double)> dearer = [](double) { return 1.0; };  ///< times what packets take, in a window
  bool sheds = true;
  Preference prefer = Preference::packets;
  double flows_told = 0;  ///< for a packet, in a window: where above 0, the second part is done for flows
  double flows = 0;       ///< and so many there are
};

struct Passed {
  double lost = 0, busy = 0;  ///< packets; of the time
  std::vector<double> recalls;
  std::uint32_t satisfied = 0, one_in = 1;
  bool changed = false;
};

/// Three tasks of all flows: of TCP, of times, and of TCP and round trips.
class Played {
 public:
  explicit Played(Site site)
      : site_(std::move(site)),
        controller_(3, {.input_ns = 80}, site_.part_ns,
                    {.sheds = site_.sheds, .prefer = site_.prefer, .costs = {.common_drift = 0.003, .relaxing = 0}}) {
    for (const std::uint32_t parts : {0b001u, 0b010u, 0b101u}) {
      TaskDemand task;
      task.states = 1;
      task.parts = parts;
      task.events = 1e6;
      tasks_.push_back(task);
    }
  }

  std::vector<TaskDemand>& tasks() { return tasks_; }
  TaskController& controller() { return controller_; }

  Passed pass() {
    std::vector<double> done(3);
    for (std::size_t part = 0; part < 3; ++part)
      for (std::size_t task = 0; task < 3; ++task)
        if ((tasks_[task].parts >> part & 1) != 0)
          done[part] = std::max(done[part], controller_.shares()[task].of_weight(0));
    const bool of_flows = site_.flows_told > 0;
    if (of_flows) done[1] *= site_.flows;
    const double packet_ns = site_.slower * site_.dearer((now_ns_ + kSpanNs / 2) * 1e-9) *
                             (site_.base_ns + std::inner_product(done.begin(), done.end(), site_.part_ns.begin(), 0.0));
    const double kept = 1.0 / controller_.one_in();
    const double mean_ns = kept * packet_ns + (1 - kept) * Shedding::kShedNs;
    const double part = 1 + site_.noise * (2 * random_.uniform() - 1);
    double offered = 0, taken = 0, lost = 0, busy_ns = 0;
    for (double at = 0; at < kSpanNs; at += kStep, now_ns_ += kStep) {
      const double came = part * site_.rate_pps(now_ns_ * 1e-9) * kStep * 1e-9;
      const double now = std::min(queue_ + came, (1 - site_.stolen(now_ns_ * 1e-9)) * kStep / mean_ns);
      offered += came;
      taken += now;
      busy_ns += now * mean_ns;
      queue_ += came - now;
      lost += std::max(0.0, queue_ - kPlaces);
      queue_ = std::min(queue_, kPlaces);
    }
    Passed passed{.lost = lost, .busy = busy_ns / kSpanNs};
    std::vector<double> packets(kWeights);
    packets[0] = taken * kept;
    for (double& packets_done : done) packets_done *= taken * kept;
    passed.changed = controller_.end_window({.window_ns = kSpanNs,
                                             .busy_ns = busy_ns,
                                             .offered = static_cast<std::uint64_t>(offered),
                                             .counted = static_cast<std::uint64_t>(taken * kept),
                                             .missed = static_cast<std::uint64_t>(lost),
                                             .shed = static_cast<std::uint64_t>(taken * (1 - kept)),
                                             .packets = packets,
                                             .done = done,
                                             .flow_parts = of_flows ? 0b010u : 0,
                                             .flows_per_packet = {site_.flows_told}},
                                            tasks_);
    for (std::size_t task = 0; task < 3; ++task)
      passed.recalls.push_back(tasks_[task].recall_with(controller_.shares()[task]));
    passed.satisfied = controller_.satisfied();
    passed.one_in = controller_.one_in();
    return passed;
  }

  std::vector<Passed> pass(int windows) {
    std::vector<Passed> all;
    for (int i = 0; i < windows; ++i) all.push_back(pass());
    return all;
  }

 private:
  Site site_;
  TaskController controller_;
  std::vector<TaskDemand> tasks_;
  SplitMix64 random_{5};
  double now_ns_ = 0, queue_ = 0;
};

double lost_in(const std::vector<Passed>& windows, std::size_t from = 0) {
  double lost = 0;
  for (std::size_t i = from; i < windows.size(); ++i) lost += windows[i].lost;
  return lost;
}
/// Those of windows that follow each other are one: flows come back a few at a time.
int changes_in(const std::vector<Passed>& windows, std::size_t from) {
  int changes = 0;
  for (std::size_t i = from; i < windows.size(); ++i)
    changes += windows[i].changed && (i == 0 || !windows[i - 1].changed);
  return changes;
}

/// All of it takes 158 ns: 6 Mpps at 95 %.
TEST(TaskController, NothingGivesWayWhereThereIsTime) {
  Played played({.rate_pps = [](double) { return 5.9e6; }});
  const auto windows = played.pass(300);
  EXPECT_EQ(changes_in(windows, 0), 0);
  EXPECT_EQ(lost_in(windows), 0);
}

TEST(TaskController, TasksThatFitAreSatisfiedAndOneIsGivenUp) {
  Played played({.rate_pps = [](double) { return 0.95e9 / 100; }});  // 20 ns a packet for tasks: that of times takes 6
  const auto windows = played.pass(300);
  EXPECT_EQ(windows.back().satisfied, 0b010u);
  EXPECT_GE(windows.back().recalls[1], 0.75);
  EXPECT_GT(windows.back().recalls[0] + windows.back().recalls[2], 0.15) << "what is left of the time";
  EXPECT_EQ(lost_in(windows, 30), 0);
  EXPECT_GT(windows.back().busy, 0.88);
  EXPECT_EQ(played.controller().given_up(), 0b101u);
}

TEST(TaskController, AllIsBackTwoWindowsAfterTheLoadFalls) {
  Played played({.rate_pps = [](double s) { return s < 2 ? 9e6 : 5e6; }});
  const auto windows = played.pass(210);
  EXPECT_LT(windows[199].recalls[0], 1);
  for (std::size_t i = 202; i < 210; ++i) EXPECT_EQ(windows[i].satisfied, 7u) << i;
  EXPECT_EQ(windows[202].recalls, (std::vector<double>{1, 1, 1}));
}

TEST(TaskController, AllIsBackAfterTheLoadFallsThoughPacketsMayBeLost) {
  Played played({.rate_pps = [](double s) { return s < 2 ? 9e6 : 5e6; }, .prefer = Preference::tasks});
  const auto windows = played.pass(210);
  EXPECT_LT(windows[199].recalls[0] + windows[199].recalls[2], 2);
  EXPECT_EQ(windows[205].recalls, (std::vector<double>{1, 1, 1}));
  EXPECT_EQ(played.controller().given_up(), 0u);
}

TEST(TaskController, WhoNeverGivesWayTakesItsTimeFromTheOthers) {
  Played played({.rate_pps = [](double) { return 0.95e9 / 152; }});  // of 158 ns
  played.tasks()[0].fixed = 1;
  const auto windows = played.pass(300);
  EXPECT_EQ(lost_in(windows, 30), 0);
  EXPECT_LT(windows.back().recalls[1] + windows.back().recalls[2], 2);
  EXPECT_GT(windows.back().busy, 0.88);
}

/// Of windows of a second there are fewer flows in 10 ms than what is told of first.
TEST(TaskController, LearnsHowManyFlowsThereAreInLongWindows) {
  Played played({.rate_pps = [](double) { return 0.95e9 / 157; },  // of 150.4 ns; 190 as told
                 .part_ns = {60, 100, 10},
                 .flows_told = 0.4,
                 .flows = 0.004});
  const auto windows = played.pass(400);
  EXPECT_EQ(windows.back().recalls, (std::vector<double>{1, 1, 1}));
  EXPECT_EQ(lost_in(windows), 0);
}

TEST(TaskController, TheLittleThatIsLackingComesBackToo) {
  // 698 ns in all, of which one task alone takes 600: 3 % less time are 3.5 % of its recall.
  Played played({.rate_pps = [](double s) { return (s < 1 ? 1.005 : 0.7) * 0.95e9 / 698; }, .part_ns = {600, 8, 10}});
  played.tasks()[2].parts = 0b100;
  const auto windows = played.pass(110);
  EXPECT_EQ(windows[99].satisfied, 7u) << "all have enough";
  EXPECT_LT(windows[99].recalls[0], 1);
  EXPECT_GT(windows[99].recalls[0], 0.95);
  EXPECT_EQ(windows[105].recalls, (std::vector<double>{1, 1, 1}));
}

TEST(TaskController, LooksAtAllAgainThoughNoPacketIsLookedAt) {
  Played played({.rate_pps = [](double) { return 15e6; }});
  EXPECT_GT(played.pass(200).back().one_in, 1u);
  const std::vector<double> none(kWeights), done(3);
  for (int i = 0; i < 200; ++i)
    played.controller().end_window(
        {.window_ns = kSpanNs, .busy_ns = 1e5, .offered = 1000, .shed = 1000, .packets = none, .done = done},
        played.tasks());
  EXPECT_EQ(played.controller().one_in(), 1u);
}

TEST(TaskController, AtAConstantLoadSharesStayAsTheyAre) {
  for (const double rate_pps : {6.3e6, 7e6, 8e6, 9e6, 10e6}) {
    Played played({.rate_pps = [=](double) { return rate_pps; }, .noise = 0.02});
    const auto windows = played.pass(1100);
    EXPECT_LE(changes_in(windows, 100), 10) << rate_pps << ": at most one a second";
    EXPECT_EQ(lost_in(windows, 100), 0) << rate_pps;
  }
}

TEST(TaskController, LearnsThatPacketsTakeLonger) {
  for (const double slower : {0.7, 1.5}) {
    Played played({.rate_pps = [=](double) { return 8e6 / slower; }, .slower = slower});
    const auto windows = played.pass(500);
    EXPECT_EQ(lost_in(windows, 100), 0) << slower;
    EXPECT_GT(windows.back().busy, 0.85) << slower << ": no more gives way than has to";
  }
}

TEST(TaskController, NothingGivesWayForPacketsThatAreLostWhileOthersHaveTheWorkersTime) {
  Played played({.rate_pps = [](double) { return 4.5e6; },
                 .stolen = [](double) { return 0.3; }});  // 71 % busy, of 70 % that it gets
  const auto windows = played.pass(300);
  EXPECT_GT(lost_in(windows), 0);
  EXPECT_EQ(changes_in(windows, 0), 0);
}

TEST(TaskController, AWindowInWhichTheMachineWasAwayChangesNothing) {
  for (const double rate_pps : {5.5e6, 7e6, 9e6})
    for (const double dearer : {1.4, 2.0, 5.0}) {
      Played played({.rate_pps = [=](double) { return rate_pps; },
                     .dearer = [=](double s) { return s > 1 && static_cast<int>(s * 100) % 10 == 3 ? dearer : 1; }});
      const auto windows = played.pass(500);
      EXPECT_EQ(changes_in(windows, 100), 0) << rate_pps << ", " << dearer;
      EXPECT_GT(lost_in(windows, 100), 0) << "or there was nothing to see";
    }
}

TEST(TaskController, PacketsThatAreDearerFromNowOnAreLearntInTwoWindows) {
  Played played({.rate_pps = [](double) { return 5e6; }, .dearer = [](double s) { return s < 1 ? 1.0 : 1.5; }});
  const auto windows = played.pass(300);
  EXPECT_EQ(changes_in(windows, 0), changes_in(windows, 100));
  EXPECT_TRUE(windows[101].changed || windows[102].changed);
  EXPECT_LE(changes_in(windows, 100), 4);
  EXPECT_EQ(lost_in(windows, 110), 0);
}

TEST(TaskController, ShedsWhereNoTaskAtAllTakesTooLongAndLooksAtAllAgain) {
  Played played({.rate_pps = [](double s) { return s < 2 ? 15e6 : 4e6; }});
  auto windows = played.pass(200);
  EXPECT_GT(windows.back().one_in, 1u);
  EXPECT_EQ(lost_in(windows, 100), 0);
  windows = played.pass(200);
  EXPECT_EQ(windows.back().one_in, 1u);
  EXPECT_EQ(windows.back().satisfied, 7u);
}

TEST(TaskController, LooksAtAllAgainThoughOthersHaveTheWorkersTime) {
  Played played(
      {.rate_pps = [](double s) { return s < 2 ? 15e6 : 4e6; }, .stolen = [](double s) { return s < 2 ? 0.0 : 0.5; }});
  EXPECT_GT(played.pass(200).back().one_in, 1u);
  const auto windows = played.pass(400);
  EXPECT_GT(lost_in(windows, 100), 0);
  EXPECT_EQ(windows.back().one_in, 1u);
}

TEST(TaskController, ShedsNothingWhereItMustNot) {
  Played played({.rate_pps = [](double) { return 20e6; }, .sheds = false});
  const auto windows = played.pass(100);
  EXPECT_EQ(windows.back().one_in, 1u);
  EXPECT_GT(lost_in(windows, 50), 0);
}

/// All of it takes 158 ns, and there are 140: a tenth of the packets is too much.
TEST(TaskController, LosesAFewPacketsWhereMoreTasksHaveEnoughByItAndThatIsPreferred) {
  const auto rate_pps = [](double) { return 1.07e9 / 158; };
  std::vector<std::vector<Passed>> of;
  for (const Preference prefer : {Preference::packets, Preference::tasks}) {
    Played played({.rate_pps = rate_pps, .prefer = prefer});
    for (TaskDemand& task : played.tasks()) task.recall = 0.9, task.loss_exponent = 1;
    of.push_back(played.pass(300));
    EXPECT_EQ(played.controller().blind_loss_satisfies_more(), prefer == Preference::packets) << "and is told";
    for (TaskDemand& task : played.tasks()) task.loss_exponent = 8;
    played.pass();
    EXPECT_FALSE(played.controller().blind_loss_satisfies_more());
  }
  EXPECT_EQ(lost_in(of[0], 100), 0);
  EXPECT_LT(std::popcount(of[0].back().satisfied), 3);
  EXPECT_EQ(of[1].back().satisfied, 7u);
  for (const double recall : of[1].back().recalls) EXPECT_GT(recall, 0.95);
  EXPECT_GT(lost_in(of[1], 100), 0);
}

TEST(TaskController, LosesNoPacketWhereNoTaskHasEnoughByIt) {
  for (const double rate_pps : {5e6, 1.07e9 / 158, 9e6}) {
    Played played({.rate_pps = [=](double) { return rate_pps; }, .prefer = Preference::tasks});
    for (TaskDemand& task : played.tasks()) task.loss_exponent = 8;
    EXPECT_EQ(lost_in(played.pass(300), 100), 0) << rate_pps;
  }
}

TEST(TaskController, GivesNothingAwayWhereNoTaskCanHaveEnoughAndPacketsMayBeLost) {
  Played played({.rate_pps = [](double) { return 30e6; }, .sheds = false, .prefer = Preference::tasks});
  const Passed last = played.pass(300).back();
  EXPECT_EQ(last.recalls, (std::vector<double>{1, 1, 1})) << "of the packets that are not lost";
  EXPECT_EQ(last.one_in, 1u);
}

TEST(TaskController, HostileWindowsChangeNothing) {
  Played played({.rate_pps = [](double) { return 5e6; }});
  played.pass(50);
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<double> packets(kWeights, 1000), done(3, 1000);
  for (const double ns : {0.0, -1.0, kNan, kInfinity})
    EXPECT_FALSE(played.controller().end_window(
        {.window_ns = ns, .busy_ns = 1e6, .offered = 50'000, .counted = 50'000, .packets = packets, .done = done},
        played.tasks()));
  for (const double ns : {kNan, kInfinity})
    EXPECT_FALSE(played.controller().end_window(
        {.window_ns = kSpanNs, .busy_ns = ns, .offered = 50'000, .counted = 50'000, .packets = packets, .done = done},
        played.tasks()));
  EXPECT_FALSE(played.controller().end_window({.window_ns = kSpanNs, .offered = 50'000}, played.tasks()))
      << "it stood still";
  EXPECT_FALSE(played.controller().end_window({.window_ns = kSpanNs}, played.tasks())) << "nothing came";
  EXPECT_FALSE(played.controller().gives_way());
}

TEST(Patience, IsNeededWhereMoreWasTooMuch) {
  Patience patience;
  EXPECT_TRUE(patience.is_over(100, 99));
  patience.rose();
  patience.pass(50e6);
  patience.fell(100);
  EXPECT_FALSE(patience.is_over(100, 99)) << "it lasted 50 ms";
  EXPECT_FALSE(patience.is_over(100, 80));
  EXPECT_TRUE(patience.is_over(111, 99)) << "there is more time";
  patience.pass(13e6);
  EXPECT_TRUE(patience.is_over(100, 80)) << "or some to spare";
  patience.pass(86e6);
  EXPECT_FALSE(patience.is_over(100, 99));
  patience.pass(1e6);
  EXPECT_TRUE(patience.is_over(100, 99));
  patience.rose();
  patience.pass(10e6);
  patience.fell(100);
  patience.pass(199e6);
  EXPECT_FALSE(patience.is_over(100, 99)) << "twice as long";
  patience.pass(1e6);
  EXPECT_TRUE(patience.is_over(100, 99));
  patience.rose();
  patience.pass(1.5e9);
  patience.fell(100);
  patience.pass(200e6);
  EXPECT_TRUE(patience.is_over(100, 99)) << "what lasted was not too much";
}

}  // namespace
}  // namespace parshall
