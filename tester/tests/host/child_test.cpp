// SPDX-License-Identifier: Apache-2.0
#include "tester/host/child.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <thread>

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
  EXPECT_EQ(child->last_words(), "it printed: out\nerr");
}

TEST(Child, ThatIsNoProgramSaysSo) {
  const auto output = run_command({"/nonexistent/monitor"});
  ASSERT_FALSE(output);
  EXPECT_NE(output.error().message.find("No such file"), std::string::npos) << output.error().message;
}

TEST(Child, HearsWhatItIsTold) {
  auto child = Child::start_to_talk({"sh", "-c", "while read -r line; do echo \"$line!\"; done; exit 4"});
  ASSERT_TRUE(child);
  EXPECT_TRUE(child->say("one\n"));
  while (child->output() != "one!\n") ::usleep(1000);
  EXPECT_TRUE(child->say("two\n"));
  while (child->output() != "one!\ntwo!\n") ::usleep(1000);
  child->send(SIGTERM);
  ASSERT_TRUE(child->wait(seconds(10)));
  EXPECT_FALSE(child->say("three\n"));
}

TEST(Child, ThatIsNotTalkedToHearsNothing) {
  const auto child = Child::start({"cat"});
  ASSERT_TRUE(child);
  EXPECT_FALSE(child->say("one\n"));
}

TEST(Child, IsNotWaitedForForEver) {
  const auto output = run_command({"sleep", "100"}, {}, milliseconds(100));
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

TEST(Child, IsKilledWithTheThreadThatStartedIt) {
  std::optional<Child> child;
  std::thread([&child] {
    child.emplace(*Child::start({"sh", "-c", "echo on; exec sleep 100"}));
    while (child->output().empty()) ::usleep(1000);
  }).join();
  const auto end = child->wait(seconds(10));
  ASSERT_TRUE(end);
  EXPECT_EQ(end->signal, SIGKILL);
}

/// A line of a process's status, without the signals above 31: two of them are the C library's, and nobody's to change.
std::uint64_t signals_of(const std::string& status, const std::string& name) {
  const std::size_t at = status.find(name + ":\t");
  return at == status.npos ? ~0ull : std::stoull(status.substr(at + name.size() + 2), nullptr, 16) & 0x7FFFFFFF;
}

TEST(Child, HasTheUsualSignals) {
  ::signal(SIGPIPE, SIG_IGN);
  sigset_t blocked, before;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &before);
  const auto status = run_command({"grep", "Sig[BI]", "/proc/self/status"});
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  EXPECT_EQ(signals_of(*status, "SigBlk"), 0u);
  EXPECT_EQ(signals_of(*status, "SigIgn"), 0u);
}

/// As a parent of ours may have left it: the system would forget how children ended.
TEST(Command, FailsWhereWhatChildrenEndWithWasIgnored) {
  ::signal(SIGCHLD, SIG_IGN);
  EXPECT_FALSE(run_command({"false"}));
  EXPECT_EQ(signals_of(*run_command({"grep", "SigIgn", "/proc/self/status"}), "SigIgn"), 0u);
}

TEST(Command, HasItsStreamsWhereOursAreClosed) {
  const int input = ::dup(STDIN_FILENO), errors = ::dup(STDERR_FILENO);
  ::close(STDIN_FILENO);
  ::close(STDERR_FILENO);
  const auto output = run_command({"cat"}, "text");
  const auto failed = run_command({"cat", "/nowhere/file"});
  ::dup2(input, STDIN_FILENO);
  ::dup2(errors, STDERR_FILENO);
  EXPECT_EQ(*output, "text");
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message.find("/nowhere/file: No such file"), std::string::npos) << failed.error().message;
}

TEST(Command, ReadsItsInputAndTellsItsOutputAlone) {
  const std::string long_text(1'000'000, 'x');
  EXPECT_EQ(*run_command({"cat"}, long_text), long_text);
  EXPECT_EQ(*run_command({"cat"}), "");
  EXPECT_EQ(*run_command({"sh", "-c", "echo out; echo err >&2"}), "out\n");
}

TEST(Command, ThatFailsTellsItsErrors) {
  const auto output = run_command({"sh", "-c", "echo out; echo err >&2; exit 3"});
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().message, "sh -c echo out; echo err >&2; exit 3 ended with status 3; it printed: err");
}

}  // namespace
}  // namespace parshall::tester
