// SPDX-License-Identifier: Apache-2.0
#include "tester/watch_loss/child.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

namespace parshall::tester {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// And has not ended, whoever has to reap it.
bool is_there(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string number, name, state;
  return (file >> number >> name >> state) && state != "Z";
}

/// Once what was killed is gone.
bool goes_away(const std::string& pid) {
  for (int i = 0; i < 200 && is_there(pid); ++i) ::usleep(10'000);
  return !is_there(pid);
}

TEST(Child, TellsItsOutputAndItsEnd) {
  auto child = Child::start({"sh", "-c", "echo out; echo err >&2; exit 3"});
  ASSERT_TRUE(child);
  const auto end = child->wait(seconds(10), {});
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit_status, 3);
  EXPECT_EQ(end->signal, 0);
  EXPECT_EQ(child->output(), "out\nerr\n");
  EXPECT_EQ(child->last_words(), "it said: out\nerr");
}

TEST(Child, ThatIsNoProgramSaysSo) {
  const auto output = run_child({"/nonexistent/monitor"}, seconds(10));
  ASSERT_FALSE(output);
  EXPECT_NE(output.error().message.find("No such file"), std::string::npos) << output.error().message;
}

TEST(Child, IsNotWaitedForForEver) {
  const auto output = run_child({"sleep", "100"}, milliseconds(100));
  ASSERT_FALSE(output);
  EXPECT_NE(output.error().message.find("takes longer"), std::string::npos);
}

TEST(Child, EndsByASignalAsAWholeGroup) {
  auto child = Child::start({"sh", "-c", "sleep 100 & echo $!; wait"});
  ASSERT_TRUE(child);
  while (child->output().empty()) ::usleep(1000);
  const std::string grandchild = child->output().substr(0, child->output().find('\n'));
  ASSERT_TRUE(is_there(grandchild));
  child->send(SIGTERM);
  const auto end = child->wait(seconds(10), {});
  ASSERT_TRUE(end);
  EXPECT_EQ(end->signal, SIGTERM);
  EXPECT_TRUE(goes_away(grandchild));
}

TEST(Child, LeavesNobodyBehind) {
  std::string grandchild;
  {
    auto child = Child::start({"sh", "-c", "trap '' TERM INT; sleep 100 & echo $!; wait"});
    ASSERT_TRUE(child);
    while (child->output().empty()) ::usleep(1000);
    grandchild = child->output().substr(0, child->output().find('\n'));
    ASSERT_TRUE(is_there(grandchild));
  }
  EXPECT_TRUE(goes_away(grandchild));
}

}  // namespace
}  // namespace parshall::tester
