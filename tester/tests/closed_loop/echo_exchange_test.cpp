// SPDX-License-Identifier: Apache-2.0
#include "tester/closed_loop/echo_exchange.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "peer.hpp"

namespace parshall::tester {
namespace {

using State = EchoExchange::State;

/// An exchange of 512 bytes over one end of a pair, whose other end is the test's.
class EchoExchangeTest : public ::testing::Test {
 protected:
  EchoExchangeTest() : message_(512), scratch_(513) {
    std::iota(message_.begin(), message_.end(), std::uint8_t{0});
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    exchange_.emplace(FileHandle(ends[0]), message_, 0);
    peer_ = FileHandle(ends[1]);
  }

  State advance() { return exchange_->advance(scratch_); }

  std::vector<std::uint8_t> message_, scratch_;
  std::optional<EchoExchange> exchange_;
  FileHandle peer_;
};

TEST_F(EchoExchangeTest, FinishesWhenTheWholeMessageIsBack) {
  EXPECT_EQ(advance(), State::open);
  const auto came = read_some(peer_);
  EXPECT_EQ(came, message_);
  write_all(peer_, came);
  EXPECT_EQ(advance(), State::finished);
  EXPECT_EQ(exchange_->sent(), 512u);
  EXPECT_EQ(exchange_->received(), 512u);
}

TEST_F(EchoExchangeTest, APartOfTheEchoIsNoEnd) {
  advance();
  for (std::size_t at = 0; at < 511; at += 7) {
    write_all(peer_, std::span(message_).subspan(at, std::min<std::size_t>(7, 511 - at)));
    ASSERT_EQ(advance(), State::open) << at;
  }
  write_all(peer_, std::span(message_).last(1));
  EXPECT_EQ(advance(), State::finished);
}

TEST_F(EchoExchangeTest, APeerThatSaysNothingLeavesItOpen) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(advance(), State::open);
}

TEST_F(EchoExchangeTest, AnotherByteIsAWrongEcho) {
  advance();
  message_[511] ^= 1;
  write_all(peer_, message_);
  message_[511] ^= 1;
  EXPECT_EQ(advance(), State::failed);
  EXPECT_EQ(exchange_->failure(), EchoFailure::wrong_echo);
}

TEST_F(EchoExchangeTest, MoreThanTheMessageIsAWrongEcho) {
  advance();
  auto more = message_;
  more.push_back(0);
  write_all(peer_, more);
  EXPECT_EQ(advance(), State::failed);
  EXPECT_EQ(exchange_->failure(), EchoFailure::wrong_echo);
}

TEST_F(EchoExchangeTest, APeerThatClosesAfterAPartClosedEarly) {
  advance();
  write_all(peer_, std::span(message_).first(100));
  ::shutdown(peer_.get(), SHUT_WR);
  EXPECT_EQ(advance(), State::failed);
  EXPECT_EQ(exchange_->failure(), EchoFailure::closed_early);
  EXPECT_EQ(exchange_->received(), 100u);
}

TEST_F(EchoExchangeTest, APeerThatHalfClosesAfterTheWholeEchoIsFine) {
  advance();
  write_all(peer_, message_);
  ::shutdown(peer_.get(), SHUT_WR);
  EXPECT_EQ(advance(), State::finished);
}

TEST_F(EchoExchangeTest, APeerThatIsGoneIsAReset) {
  peer_ = FileHandle();
  EXPECT_EQ(advance(), State::failed);
  EXPECT_EQ(exchange_->failure(), EchoFailure::reset);
  EXPECT_NE(exchange_->error_number(), 0);
}

TEST_F(EchoExchangeTest, AMessageThatFitsNoBufferIsReadWhileItIsSent) {
  message_.assign(8 << 20, 7);
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
  exchange_.emplace(FileHandle(ends[0]), message_, 0);
  peer_ = FileHandle(ends[1]);
  State state = State::open;
  EXPECT_TRUE(step_until(
      [&] {
        state = advance();
        const auto came = read_some(peer_, 4096);
        if (!came.empty()) write_all(peer_, came);
      },
      [&] { return state != State::open; }));
  EXPECT_EQ(state, State::finished);
}

TEST(EchoFailures, HaveTheirCauses) {
  EXPECT_EQ(failure_of(ECONNREFUSED), EchoFailure::refused);
  EXPECT_EQ(failure_of(ECONNRESET), EchoFailure::reset);
  EXPECT_EQ(failure_of(ETIMEDOUT), EchoFailure::timed_out);
  EXPECT_EQ(failure_of(EHOSTUNREACH), EchoFailure::unreachable);
  EXPECT_EQ(failure_of(EMFILE), EchoFailure::other);
}

}  // namespace
}  // namespace parshall::tester
