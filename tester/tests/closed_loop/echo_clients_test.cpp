// SPDX-License-Identifier: Apache-2.0
#include "tester/closed_loop/echo_clients.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "peer.hpp"
#include "tester/closed_loop/echo_server.hpp"

namespace parshall::tester {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

std::uint64_t failed_by(const EchoClients& clients, EchoFailure failure) {
  return clients.counts().failed_by[static_cast<std::size_t>(failure)];
}

/// Clients against a peer that does something with each connection it accepts, until they have finished.
class EchoClientsTest : public ::testing::Test {
 protected:
  EchoClients run(EchoClientsPlan plan, const std::function<void(FileHandle)>& meet) {
    plan.server = listener_.endpoint();
    auto clients = EchoClients::open(plan);
    EXPECT_TRUE(clients) << clients.error().message;
    EXPECT_TRUE(step_until(
        [&] {
          clients->step();
          while (FileHandle socket = listener_.accept()) {
            ++met_;
            meet(std::move(socket));
          }
        },
        [&] { return clients->finished(); }));
    const EchoClientsCounts& counts = clients->counts();
    EXPECT_EQ(counts.begun, counts.finished + counts.failed() + counts.abandoned);
    EXPECT_EQ(counts.connection_ns.count(), counts.finished);
    return *std::move(clients);
  }

  Listener listener_;
  std::vector<FileHandle> kept_;
  std::uint64_t met_ = 0;
};

TEST_F(EchoClientsTest, FinishWhatAServerEchoes) {
  auto server = EchoServer::open({.listen = loopback(0)});
  ASSERT_TRUE(server);
  auto clients = EchoClients::open({.server = server->endpoint(), .clients = 50, .connections = 1000, .seed = 3});
  ASSERT_TRUE(clients);
  ASSERT_TRUE(step_until(
      [&] {
        clients->step();
        server->step();
      },
      [&] { return clients->finished() && server->counts().ended() == 1000; }));
  const EchoClientsCounts& counts = clients->counts();
  EXPECT_EQ(counts.begun, 1000u);
  EXPECT_EQ(counts.finished, 1000u);
  EXPECT_EQ(counts.bytes_sent, 512'000u);
  EXPECT_EQ(counts.bytes_received, 512'000u);
  EXPECT_EQ(counts.connection_ns.count(), 1000u);
  EXPECT_EQ(server->counts().closed, 1000u);
  EXPECT_EQ(server->counts().bytes_received, 512'000u);
  EXPECT_EQ(server->counts().bytes_sent, 512'000u);
  EXPECT_LE(server->counts().most_open, 100u);
  std::uint64_t of_all = 0;
  for (const std::uint64_t of_client : counts.finished_by_client) of_all += of_client;
  EXPECT_EQ(of_all, 1000u);
}

TEST_F(EchoClientsTest, ThatResetMayUseAPortAgainAtOnceAndOthersNot) {
  auto server = EchoServer::open({.listen = loopback(0)});
  ASSERT_TRUE(server);
  for (const EchoClose close : {EchoClose::rst, EchoClose::fin}) {
    const std::uint64_t server_ended = server->counts().ended(), server_reset = server->counts().reset;
    auto clients = EchoClients::open({.server = server->endpoint(),
                                      .connections = 2,
                                      .timeout_ns = 300 * kMs,
                                      .first_port = free_port(),
                                      .ports = 1,
                                      .close = close});
    ASSERT_TRUE(clients);
    ASSERT_TRUE(step_until(
        [&] {
          clients->step();
          server->step();
        },
        [&] { return clients->finished() && server->counts().ended() == server_ended + clients->counts().finished; }));
    EXPECT_EQ(clients->counts().ports_skipped != 0, close == EchoClose::fin);
    EXPECT_EQ(server->counts().reset - server_reset, close == EchoClose::rst ? 2u : 0u);
    EXPECT_EQ(clients->counts().finished + failed_by(*clients, EchoFailure::no_port), 2u);
  }
}

TEST_F(EchoClientsTest, DoNotWaitForASilentPeerForEver) {
  const EchoClients clients = run({.clients = 4, .connections = 8, .timeout_ns = 250 * kMs},
                                  [&](FileHandle socket) { kept_.push_back(std::move(socket)); });
  EXPECT_EQ(failed_by(clients, EchoFailure::timed_out), 8u);
}

TEST_F(EchoClientsTest, GiveUpWhereNothingFinishes) {
  const EchoClients clients =
      run({.timeout_ns = 50 * kMs}, [&](FileHandle socket) { kept_.push_back(std::move(socket)); });
  EXPECT_TRUE(clients.gave_up());
  EXPECT_LE(clients.counts().begun, 4u);
}

TEST_F(EchoClientsTest, KnowHowLongTheyBeganBeforeTheyOnlyWaited) {
  const auto keep = [&](FileHandle socket) { kept_.push_back(std::move(socket)); };
  const EchoClients timed = run({.duration_ns = 100 * kMs, .timeout_ns = 400 * kMs}, keep);
  EXPECT_GE(timed.elapsed_ns(), 400 * kMs);
  EXPECT_EQ(timed.beginning_ns(), 100 * kMs);
  const EchoClients counted = run({.connections = 1, .timeout_ns = 50 * kMs}, keep);
  EXPECT_EQ(counted.beginning_ns(), counted.elapsed_ns());
}

TEST_F(EchoClientsTest, CountResets) {
  const EchoClients clients = run({.connections = 3}, [](FileHandle socket) { reset(std::move(socket)); });
  EXPECT_EQ(failed_by(clients, EchoFailure::reset), 3u);
}

TEST_F(EchoClientsTest, CountPeersThatOnlyHalfClose) {
  const EchoClients clients = run({.connections = 3}, [&](FileHandle socket) {
    ::shutdown(socket.get(), SHUT_WR);
    kept_.push_back(std::move(socket));
  });
  EXPECT_EQ(failed_by(clients, EchoFailure::closed_early), 3u);
}

TEST_F(EchoClientsTest, CountWrongEchoes) {
  const std::vector<std::uint8_t> garbage(100, 0xff);
  const EchoClients clients = run({.connections = 3}, [&](FileHandle socket) {
    write_all(socket, garbage);
    kept_.push_back(std::move(socket));
  });
  EXPECT_EQ(failed_by(clients, EchoFailure::wrong_echo), 3u);
}

TEST_F(EchoClientsTest, RestWhereNobodyListensAndGoOnWithOthers) {
  auto clients = EchoClients::open({.server = loopback(free_port()), .clients = 2, .duration_ns = 500 * kMs});
  ASSERT_TRUE(clients);
  ASSERT_TRUE(step_until([&] { clients->step(); }, [&] { return clients->finished(); }));
  EXPECT_EQ(failed_by(*clients, EchoFailure::refused), clients->counts().begun);
  EXPECT_GE(clients->counts().begun, 4u);
  EXPECT_LE(clients->counts().begun, 2u * 7) << "10, 20, 40, ... ms between two tries of a client";
}

TEST_F(EchoClientsTest, NeverConnectToThemselves) {
  const std::uint16_t port = free_port();
  auto clients = EchoClients::open(
      {.server = loopback(port), .connections = 6, .first_port = static_cast<std::uint16_t>(port - 1), .ports = 2});
  ASSERT_TRUE(clients);
  ASSERT_TRUE(step_until([&] { clients->step(); }, [&] { return clients->finished(); }));
  EXPECT_EQ(clients->counts().finished, 0u);
}

TEST_F(EchoClientsTest, AbandonWhatIsUnderWay) {
  auto clients = EchoClients::open({.server = listener_.endpoint(), .clients = 5});
  ASSERT_TRUE(clients);
  ASSERT_TRUE(step_until([&] { clients->step(); }, [&] { return clients->counts().begun == 5; }));
  clients->abandon();
  EXPECT_TRUE(clients->finished());
  EXPECT_EQ(clients->counts().abandoned, 5u);
}

TEST_F(EchoClientsTest, NeedAsManyPortsAsTheyAre) {
  const auto clients = EchoClients::open({.server = loopback(7), .clients = 3, .first_port = 50000, .ports = 2});
  ASSERT_FALSE(clients);
  EXPECT_NE(clients.error().message.find("ports"), std::string::npos);
  EXPECT_FALSE(EchoClients::open({.server = loopback(7), .first_port = 65000, .ports = 1000}));
}

}  // namespace
}  // namespace parshall::tester
