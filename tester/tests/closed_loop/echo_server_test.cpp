// SPDX-License-Identifier: Apache-2.0
#include "tester/closed_loop/echo_server.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "peer.hpp"

namespace parshall::tester {
namespace {

constexpr std::uint64_t kServerMs = 1'000'000;

class EchoServerTest : public ::testing::Test {
 protected:
  explicit EchoServerTest() { open({.listen = loopback(0)}); }

  void open(const EchoServerPlan& plan) {
    auto server = EchoServer::open(plan);
    ASSERT_TRUE(server) << server.error().message;
    server_.emplace(*std::move(server));
  }

  template <class Done>
  bool step_until(Done done) {
    return tester::step_until([&] { server_->step(); }, done);
  }

  const EchoServerCounts& counts() const { return server_->counts(); }

  void check_identity() const { EXPECT_EQ(counts().accepted, counts().ended() + counts().open); }

  std::optional<EchoServer> server_;
};

TEST_F(EchoServerTest, EchoesByteByByte) {
  const FileHandle client = connect_to(server_->endpoint());
  for (std::uint8_t byte = 0; byte < 20; ++byte) {
    write_all(client, std::span(&byte, 1));
    std::vector<std::uint8_t> came;
    ASSERT_TRUE(step_until([&] { return !(came = read_some(client)).empty(); }));
    EXPECT_EQ(came, std::vector<std::uint8_t>{byte});
  }
  EXPECT_EQ(counts().bytes_received, 20u);
  EXPECT_EQ(counts().bytes_sent, 20u);
  EXPECT_EQ(counts().open, 1u);
}

TEST_F(EchoServerTest, AClientThatHalfClosesGetsAllItsBytesBack) {
  const FileHandle client = connect_to(server_->endpoint());
  const std::vector<std::uint8_t> message(100'000, 9);
  write_all(client, message);
  ::shutdown(client.get(), SHUT_WR);
  std::size_t came = 0;
  ASSERT_TRUE(step_until([&] {
    came += read_some(client).size();
    return counts().ended() == 1;
  }));
  while (const std::size_t more = read_some(client).size()) came += more;
  EXPECT_EQ(came, message.size());
  EXPECT_EQ(counts().closed, 1u);
  check_identity();
}

TEST_F(EchoServerTest, CountsResets) {
  FileHandle client = connect_to(server_->endpoint());
  ASSERT_TRUE(step_until([&] { return counts().accepted == 1; }));
  reset(std::move(client));
  ASSERT_TRUE(step_until([&] { return counts().ended() == 1; }));
  EXPECT_EQ(counts().reset, 1u);
  check_identity();
}

TEST_F(EchoServerTest, ClosesSilentConnections) {
  open({.listen = loopback(0), .timeout_ns = 100 * kServerMs});
  const FileHandle client = connect_to(server_->endpoint());
  ASSERT_TRUE(step_until([&] { return counts().ended() == 1; }));
  EXPECT_EQ(counts().timed_out, 1u);
  char byte;
  EXPECT_EQ(::recv(client.get(), &byte, 1, 0), 0);
  check_identity();
}

TEST_F(EchoServerTest, APeerThatOnlySendsIsReadNoFurtherThanItReads) {
  open({.listen = loopback(0), .timeout_ns = 300 * kServerMs});
  const FileHandle client = connect_to(server_->endpoint());
  const std::vector<std::uint8_t> chunk(65536, 1);
  std::uint64_t sent = 0;
  ASSERT_TRUE(step_until([&] {
    const ssize_t count = ::send(client.get(), chunk.data(), chunk.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    sent += count > 0 ? static_cast<std::uint64_t>(count) : 0;
    return counts().ended() == 1;
  }));
  EXPECT_EQ(counts().timed_out, 1u);
  EXPECT_LE(counts().bytes_received, counts().bytes_sent + 65536);
  check_identity();
}

TEST_F(EchoServerTest, APeerThatReadsLateGetsAllItsBytesBack) {
  const FileHandle client = connect_to(server_->endpoint());
  const std::vector<std::uint8_t> chunk(65536, 1);
  std::uint64_t sent = 0;
  for (int refused = 0; refused < 20;) {
    const ssize_t count = ::send(client.get(), chunk.data(), chunk.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    sent += count > 0 ? static_cast<std::uint64_t>(count) : 0;
    refused += count < 0;
    server_->step();
  }
  ::shutdown(client.get(), SHUT_WR);
  std::uint64_t came = 0;
  ASSERT_TRUE(step_until([&] {
    came += read_some(client).size();
    return came == sent;
  })) << came
      << " of " << sent;
  ASSERT_TRUE(step_until([&] { return counts().closed == 1; }));
  EXPECT_EQ(counts().bytes_sent, sent);
}

TEST_F(EchoServerTest, WithoutDescriptorsWaitsAndDoesNotSpin) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  std::vector<FileHandle> clients;
  for (int i = 0; i < 8; ++i) clients.push_back(connect_to(server_->endpoint()));  // the kernel accepts them
  const FileHandle next(::dup(0));
  const rlimit tight{.rlim_cur = static_cast<rlim_t>(next.get()) + 4, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
  const auto begin = std::chrono::steady_clock::now();
  int steps = 0;
  tester::step_until(
      [&] {
        server_->step();
        ++steps;
      },
      [&] { return std::chrono::steady_clock::now() - begin > std::chrono::milliseconds(300); });
  EXPECT_EQ(counts().accepted, 3u);
  EXPECT_GT(counts().held_back, 0u);
  EXPECT_LE(steps, 80);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(step_until([&] { return counts().accepted == 8; }));
  check_identity();
}

TEST_F(EchoServerTest, HasNoMoreConnectionsThanItMay) {
  open({.listen = loopback(0), .connections = 2});
  std::vector<FileHandle> clients;
  for (int i = 0; i < 5; ++i) clients.push_back(connect_to(server_->endpoint()));
  ASSERT_TRUE(step_until([&] { return counts().accepted >= 2; }));
  for (int i = 0; i < 20; ++i) server_->step();
  EXPECT_EQ(counts().open, 2u);
  clients.clear();
  EXPECT_TRUE(step_until([&] { return counts().ended() == 5; }));
  EXPECT_EQ(counts().most_open, 2u);
}

TEST_F(EchoServerTest, APortInUseIsAnErrorThatSaysSo) {
  const auto second = EchoServer::open({.listen = server_->endpoint()});
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("another port"), std::string::npos) << second.error().message;
}

TEST_F(EchoServerTest, SpeaksIPv6) {
  open({.listen = *Endpoint::parse("[::1]:0")});
  const FileHandle client = connect_to(server_->endpoint());
  write_all(client, std::vector<std::uint8_t>(10, 3));
  std::vector<std::uint8_t> came;
  ASSERT_TRUE(step_until([&] { return (came = read_some(client)).size() == 10; }));
}

}  // namespace
}  // namespace parshall::tester
