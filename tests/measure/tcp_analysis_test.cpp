// SPDX-License-Identifier: Apache-2.0
// Every course of a connection is played from several initial sequence numbers, so that they wrap around somewhere in
// it.
#include <gtest/gtest.h>

#include <array>
#include <ostream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "pipeline/measure/tcp/compact_connection.hpp"

namespace parshall {
namespace {

constexpr std::uint16_t kFin = 1, kSyn = 2, kRst = 4, kAck = 16;
constexpr std::uint64_t kUs = 1000, kMs = 1000 * kUs, kSecond = 1000 * kMs;
constexpr std::size_t kClient = 0, kServer = 1;

/// One packet, its numbers counted from its sender's and its receiver's initial ones.
struct Packet {
  std::uint32_t seq = 0, ack = 0, bytes = 0;
  std::uint16_t flags = kAck;
  std::uint16_t window = 500;
  std::uint32_t ts_value = 0, ts_echo = 0;
};

std::string show(TcpMarks marks) {
  constexpr const char* kNames[] = {"retransmission", "fast",          "spurious",      "out of order",
                                    "lost segment",   "ack of unseen", "duplicate ack", "keep-alive",
                                    "keep-alive ack", "zero window",   "probe",         "probe ack",
                                    "window update",  "reused ports"};
  std::string text;
  for (std::size_t i = 0; i < std::size(kNames); ++i)
    if ((marks.bits() >> i & 1) != 0) text += (text.empty() ? "" : ", ") + std::string(kNames[i]);
  return text;
}

struct Numbers {
  const char* name;
  std::uint32_t client, server;

  friend void PrintTo(const Numbers& numbers, std::ostream* to) { *to << numbers.client << " and " << numbers.server; }
};

class Connection : public ::testing::TestWithParam<Numbers> {
 protected:
  static constexpr std::size_t kChunks = 128;

  TcpFinding send(std::size_t from, std::uint64_t after_ns, const Packet& packet) {
    const TcpFacts tcp{.seq = first_[from] + packet.seq,
                       .ack = (packet.flags & kAck) != 0 ? first_[1 - from] + packet.ack : packet.ack,
                       .payload_bytes = packet.bytes,
                       .ts_value = packet.ts_value,
                       .ts_echo = packet.ts_echo,
                       .window = packet.window,
                       .present = true};
    return take(from, tcp, packet.flags, kStart + after_ns);
  }
  /// A CompactConnection finds what analyse_tcp() finds, and keeps what a TcpConnection does.
  TcpFinding take(std::size_t from, const TcpFacts& tcp, std::uint16_t flags, std::uint64_t time_ns) {
    TcpFinding finding, by_any;
    packed_.analyse(from, tcp, flags, time_ns, pool_, finding);
    analyse_tcp(by_any_, from, tcp, flags, time_ns, pool_of_any_, by_any);
    if (has_room_) {
      EXPECT_EQ(show(finding.marks), show(by_any.marks));
      EXPECT_EQ(finding.rtt_ns, by_any.rtt_ns);
      EXPECT_EQ(finding.rtt_ambiguous, by_any.rtt_ambiguous);
    }
    EXPECT_EQ(finding.handshake_ns, by_any.handshake_ns);
    if (!unpacks_) return finding;
    connection_ = packed_.unpack(pool_);
    EXPECT_EQ(connection_.handshake_ns, by_any_.handshake_ns);
    for (const std::size_t end : {kClient, kServer}) expect_same_sender(end);
    packed_.pack(connection_, pool_);
    return finding;
  }
  TcpFinding client(std::uint64_t after_ns, const Packet& packet) { return send(kClient, after_ns, packet); }
  TcpFinding server(std::uint64_t after_ns, const Packet& packet) { return send(kServer, after_ns, packet); }

  /// Ends at `rtt_ns`. From then on the client's next number is 1, and the server's.
  void shake_hands(std::uint64_t rtt_ns = kMs) {
    client(0, {.flags = kSyn});
    server(rtt_ns / 2, {.ack = 1, .flags = kSyn | kAck});
    client(rtt_ns, {.seq = 1, .ack = 1});
    ASSERT_EQ(connection_.handshake_ns, rtt_ns);
  }

  /// Chunks of the pool that nobody has.
  std::size_t free_chunks() {
    constexpr std::uint16_t kInAChunk = 5;
    std::vector<UnackedSegments> lists(1);
    std::size_t count = 0;
    for (const std::uint64_t dropped = pool_.dropped(); pool_.dropped() == dropped; ++count) {
      if (lists.back().count == SegmentPool::kMostPerSender / kInAChunk * kInAChunk) lists.emplace_back();
      pool_.append({lists.back(), 0, 0}, {});
    }
    for (UnackedSegments& list : lists) pool_.clear(list);
    return (count - 1) / kInAChunk;
  }
  std::size_t kept(std::size_t of) const { return connection_.sender[of].unacked.count; }

  void begin_anew() {
    packed_ = {};
    connection_ = by_any_ = {};
  }

  void play_anything(SplitMix64& random, bool far, std::uint64_t one_odd_in);

  void expect_same_sender(std::size_t end) {
    const TcpSender &one = connection_.sender[end], &other = by_any_.sender[end];
    const auto numbers = [](const TcpSender& sender) {
      return std::vector<std::uint64_t>{
          sender.base,           sender.next_seq,    sender.contiguous_end,
          sender.last_ack,       sender.window,      sender.has_window,
          sender.duplicate_acks, sender.next_seq_ns, sender.has_base,
          sender.answered_syn,   sender.opening,     sender.syn_ns,
          sender.kept_alive,     sender.probed,      sender.duplicate_acks == 0 ? 0 : sender.last_ns,
          sender.gap_end};
    };
    EXPECT_EQ(numbers(one), numbers(other)) << "of end " << end;
    if (!has_room_) return;
    EXPECT_EQ(segments(connection_, end, pool_), segments(by_any_, end, pool_of_any_)) << "of end " << end;
  }
  static std::vector<std::array<std::uint64_t, 5>> segments(TcpConnection& connection, std::size_t end,
                                                            SegmentPool& pool) {
    std::vector<std::array<std::uint64_t, 5>> all;
    pool.visit(connection.sender[end].segments(), [&](const UnackedSegment& one) {
      all.push_back({one.seq, one.next_seq, one.time_ns, one.ts_value, one.retransmission});
      return true;
    });
    return all;
  }

  static constexpr std::uint64_t kStart = 5 * kSecond;
  std::uint32_t first_[2] = {GetParam().client, GetParam().server};
  CompactConnection packed_;
  TcpConnection connection_, by_any_;  ///< the same unpacked, and the one to compare with
  SegmentPool pool_{kChunks}, pool_of_any_{kChunks};
  bool unpacks_ = true;   ///< compare the connections after each packet, not only the findings
  bool has_room_ = true;  ///< no segment was dropped, so that both keep the same
};

#define EXPECT_MARKS(finding, text) EXPECT_EQ(show((finding).marks), text)

void expect_rtt(const TcpFinding& finding, std::uint64_t ns) {
  EXPECT_EQ(finding.rtt_ns, ns);
  EXPECT_FALSE(finding.rtt_ambiguous);
}

TEST_P(Connection, AHandshakeGivesItsTimeAndARoundTripToEitherSide) {
  const TcpFinding syn = client(0, {.flags = kSyn});
  EXPECT_MARKS(syn, "");
  EXPECT_EQ(syn.rtt_ns, TcpFinding::kNone);
  const TcpFinding syn_ack = server(800 * kUs, {.ack = 1, .flags = kSyn | kAck});
  EXPECT_MARKS(syn_ack, "");
  expect_rtt(syn_ack, 800 * kUs);
  EXPECT_EQ(syn_ack.handshake_ns, TcpFinding::kNone);
  const TcpFinding ack = client(kMs, {.seq = 1, .ack = 1});
  EXPECT_MARKS(ack, "");
  expect_rtt(ack, 200 * kUs);
  EXPECT_EQ(ack.handshake_ns, kMs);
  const TcpFinding data = client(2 * kMs, {.seq = 1, .ack = 1, .bytes = 100});
  EXPECT_MARKS(data, "");
  EXPECT_EQ(data.handshake_ns, TcpFinding::kNone) << "told once";
}

TEST_P(Connection, AHandshakeIsTimedFromItsLastSyn) {
  client(0, {.flags = kSyn});
  EXPECT_MARKS(client(kSecond, {.flags = kSyn}), "retransmission");
  const TcpFinding syn_ack = server(kSecond + kMs, {.ack = 1, .flags = kSyn | kAck});
  EXPECT_MARKS(syn_ack, "");
  EXPECT_TRUE(syn_ack.rtt_ambiguous);
  EXPECT_EQ(client(kSecond + 2 * kMs, {.seq = 1, .ack = 1}).handshake_ns, 2 * kMs);
}

TEST_P(Connection, AHandshakeThatWasNotSeenWhollyIsNotTimed) {
  client(0, {.flags = kSyn});
  EXPECT_EQ(client(kMs, {.seq = 1, .ack = 1}).handshake_ns, TcpFinding::kNone) << "the SYN-ACK was missed";
}

TEST_P(Connection, DataIsAnsweredByItsAcknowledgement) {
  shake_hands();
  EXPECT_MARKS(client(2 * kMs, {.seq = 1, .ack = 1, .bytes = 100}), "");
  const TcpFinding ack = server(2300 * kUs, {.seq = 1, .ack = 101});
  EXPECT_MARKS(ack, "");
  expect_rtt(ack, 300 * kUs);
  EXPECT_EQ(server(2400 * kUs, {.seq = 1, .ack = 101, .bytes = 5}).rtt_ns, TcpFinding::kNone)
      << "acknowledges nothing new";
  const TcpFinding back = client(2500 * kUs, {.seq = 101, .ack = 6, .bytes = 10});
  EXPECT_MARKS(back, "");
  expect_rtt(back, 100 * kUs);
  EXPECT_MARKS(client(3 * kMs, {.seq = 111, .ack = 6, .flags = kFin | kAck}), "");
  expect_rtt(server(4 * kMs, {.seq = 6, .ack = 112, .flags = kFin | kAck}), kMs);
  expect_rtt(client(5 * kMs, {.seq = 112, .ack = 7}), kMs);
  EXPECT_EQ(free_chunks(), kChunks);
}

TEST_P(Connection, ADelayedAcknowledgementIsOfTheLastSegmentItEndsWith) {
  shake_hands();
  client(2 * kMs, {.seq = 1, .ack = 1, .bytes = 100});
  client(2100 * kUs, {.seq = 101, .ack = 1, .bytes = 100});
  client(2200 * kUs, {.seq = 201, .ack = 1, .bytes = 100});
  expect_rtt(server(2400 * kUs, {.seq = 1, .ack = 201}), 300 * kUs);
  EXPECT_EQ(kept(kClient), 1u);
  expect_rtt(server(3 * kMs, {.seq = 1, .ack = 301}), 800 * kUs);
  EXPECT_EQ(free_chunks(), kChunks);
}

TEST_P(Connection, BytesSentAgainAfterATimeoutAreARetransmission) {
  shake_hands();
  client(2 * kMs, {.seq = 1, .ack = 1, .bytes = 100});
  client(2 * kMs, {.seq = 101, .ack = 1, .bytes = 100});
  EXPECT_MARKS(client(300 * kMs, {.seq = 1, .ack = 1, .bytes = 100}), "retransmission");
  EXPECT_MARKS(client(900 * kMs, {.seq = 101, .ack = 1, .bytes = 100}), "retransmission");
  EXPECT_MARKS(client(901 * kMs, {.seq = 201, .ack = 1, .bytes = 100}), "");
}

TEST_P(Connection, AFinSentAgainIsARetransmission) {
  shake_hands();
  EXPECT_MARKS(client(2 * kMs, {.seq = 1, .ack = 1, .flags = kFin | kAck}), "");
  EXPECT_MARKS(client(300 * kMs, {.seq = 1, .ack = 1, .flags = kFin | kAck}), "retransmission");
}

TEST_P(Connection, TwoDuplicateAcksWithin20MsMakeARetransmissionFast) {
  for (const auto& [duplicates, later_ns, seq, marks] :
       {std::tuple{2, 20 * kMs - 1, 101u, "retransmission, fast"}, std::tuple{3, kMs, 101u, "retransmission, fast"},
        std::tuple{2, 20 * kMs, 101u, "retransmission"}, std::tuple{1, kMs, 101u, "retransmission"},
        std::tuple{2, kMs, 201u, "retransmission"}}) {
    begin_anew();
    shake_hands();
    for (std::uint32_t i = 0; i < 5; ++i) client(2 * kMs, {.seq = 1 + 100 * i, .ack = 1, .bytes = 100});
    server(3 * kMs, {.seq = 1, .ack = 101});
    for (int i = 0; i < duplicates; ++i) EXPECT_MARKS(server(3 * kMs, {.seq = 1, .ack = 101}), "duplicate ack");
    EXPECT_MARKS(client(3 * kMs + later_ns, {.seq = seq, .ack = 1, .bytes = 100}), marks)
        << duplicates << " duplicates, " << later_ns << " ns later, from " << seq;
    EXPECT_MARKS(client(30 * kMs, {.seq = 501, .ack = 1, .bytes = 100}), "");
  }
}

TEST_P(Connection, WhatWasAcknowledgedIsSentAgainForNothing) {
  shake_hands();
  client(2 * kMs, {.seq = 1, .ack = 1, .bytes = 100});
  client(2 * kMs, {.seq = 101, .ack = 1, .bytes = 100});
  server(3 * kMs, {.seq = 1, .ack = 101});
  EXPECT_MARKS(client(4 * kMs, {.seq = 1, .ack = 1, .bytes = 100}), "retransmission, spurious");
  EXPECT_MARKS(client(400 * kMs, {.seq = 101, .ack = 1, .bytes = 100}), "retransmission");
  server(401 * kMs, {.seq = 1, .ack = 201});
  EXPECT_MARKS(client(402 * kMs, {.seq = 101, .ack = 1, .bytes = 100}), "retransmission, spurious");
  EXPECT_MARKS(client(403 * kMs, {.seq = 201, .ack = 1, .bytes = 100}), "");
}

TEST_P(Connection, AGapThatIsFilledWithin3MsIsReorderingWhereTheHandshakeWasNotSeen) {
  for (const auto& [later_ns, marks] : {std::pair{3 * kMs - 1, "out of order"}, std::pair{3 * kMs, "retransmission"}}) {
    begin_anew();
    client(0, {.seq = 1, .ack = 1, .bytes = 100});
    EXPECT_MARKS(client(kMs, {.seq = 201, .ack = 1, .bytes = 100}), "lost segment");
    EXPECT_MARKS(client(kMs + later_ns, {.seq = 101, .ack = 1, .bytes = 100}), marks);
    EXPECT_MARKS(client(8 * kMs, {.seq = 301, .ack = 1, .bytes = 100}), "");
  }
}

TEST_P(Connection, AGapThatIsFilledWithinTheHandshakesTimeIsReordering) {
  for (const std::uint64_t rtt_ns : {kMs, 100 * kMs})
    for (const bool soon : {true, false}) {
      begin_anew();
      shake_hands(rtt_ns);
      client(200 * kMs, {.seq = 1, .ack = 1, .bytes = 100});
      EXPECT_MARKS(client(200 * kMs, {.seq = 201, .ack = 1, .bytes = 100}), "lost segment");
      EXPECT_MARKS(client(200 * kMs + rtt_ns - soon, {.seq = 101, .ack = 1, .bytes = 100}),
                   soon ? "out of order" : "retransmission");
    }
}

TEST_P(Connection, BytesThatWereSeenAreNoReorderingHoweverSoonTheyComeAgain) {
  shake_hands(100 * kMs);
  client(200 * kMs, {.seq = 1, .ack = 1, .bytes = 100});
  client(200 * kMs, {.seq = 101, .ack = 1, .bytes = 100});
  EXPECT_MARKS(client(200 * kMs + 1, {.seq = 1, .ack = 1, .bytes = 100}), "retransmission");
  EXPECT_MARKS(client(200 * kMs + 2, {.seq = 51, .ack = 1, .bytes = 40}), "retransmission") << "a part of them";
  EXPECT_MARKS(client(200 * kMs + 3, {.seq = 1, .ack = 1, .bytes = 200}), "retransmission") << "two in one";
}

TEST_P(Connection, WhatIsPartlyAcknowledgedAndSentAgainAsAWholeWasSeen) {
  shake_hands(100 * kMs);
  client(200 * kMs, {.seq = 1, .ack = 1, .bytes = 100});
  client(200 * kMs, {.seq = 101, .ack = 1, .bytes = 100});
  server(201 * kMs, {.seq = 1, .ack = 51});
  EXPECT_MARKS(client(202 * kMs, {.seq = 1, .ack = 1, .bytes = 100}), "retransmission");
}

TEST_P(Connection, DuplicateAcksAreCountedUntilTheAcknowledgementMoves) {
  shake_hands();
  for (std::uint32_t i = 0; i < 5; ++i) client(2 * kMs, {.seq = 1 + 100 * i, .ack = 1, .bytes = 100});
  EXPECT_MARKS(server(3 * kMs, {.seq = 1, .ack = 101}), "");
  const TcpSender& sender = connection_.sender[kServer];
  for (std::uint16_t i = 1; i <= 3; ++i) {
    EXPECT_MARKS(server(3 * kMs, {.seq = 1, .ack = 101}), "duplicate ack");
    EXPECT_EQ(sender.duplicate_acks, i);
  }
  EXPECT_MARKS(server(3 * kMs, {.seq = 1, .ack = 101, .window = 600}), "window update");
  EXPECT_MARKS(server(3 * kMs, {.seq = 1, .ack = 101, .bytes = 10, .window = 600}), "") << "it has data";
  EXPECT_EQ(sender.duplicate_acks, 3);
  EXPECT_MARKS(server(4 * kMs, {.seq = 11, .ack = 301, .window = 600}), "");
  EXPECT_EQ(sender.duplicate_acks, 0);
  EXPECT_MARKS(server(4 * kMs, {.seq = 11, .ack = 401, .window = 700}), "") << "its window is no news of its own";
  EXPECT_MARKS(server(4 * kMs, {.seq = 11, .ack = 401, .flags = kFin | kAck, .window = 700}), "");
  EXPECT_EQ(sender.duplicate_acks, 0);
}

TEST_P(Connection, AKeepAliveAndItsAnswerAreNoRetransmissionAndNoDuplicateAck) {
  shake_hands();
  client(2 * kMs, {.seq = 1, .ack = 1, .bytes = 100});
  server(3 * kMs, {.seq = 1, .ack = 101});
  for (const std::uint32_t bytes : {0u, 1u}) {
    EXPECT_MARKS(client(kSecond, {.seq = 100, .ack = 1, .bytes = bytes}), "keep-alive") << bytes;
    EXPECT_MARKS(server(kSecond + kMs, {.seq = 1, .ack = 101}), "keep-alive ack") << bytes;
  }
  EXPECT_MARKS(server(kSecond + 2 * kMs, {.seq = 1, .ack = 101}), "keep-alive ack") << "the client is still silent";
  EXPECT_MARKS(client(2 * kSecond, {.seq = 101, .ack = 1, .bytes = 100}), "");
  EXPECT_MARKS(server(2 * kSecond, {.seq = 1, .ack = 101}), "duplicate ack");
}

TEST_P(Connection, AClosedWindowMayBeProbedByKeepAlives) {
  shake_hands();
  client(2 * kMs, {.seq = 1, .ack = 1, .bytes = 100});
  server(3 * kMs, {.seq = 1, .ack = 101, .window = 0});
  for (const std::uint32_t bytes : {0u, 1u})
    EXPECT_MARKS(client(kSecond, {.seq = 100, .ack = 1, .bytes = bytes}), "keep-alive") << bytes;
}

TEST_P(Connection, AClosedWindowIsProbedUntilItOpens) {
  shake_hands();
  client(2 * kMs, {.seq = 1, .ack = 1, .bytes = 100});
  EXPECT_MARKS(server(3 * kMs, {.seq = 1, .ack = 101, .window = 0}), "zero window");
  for (std::uint64_t i = 1; i <= 3; ++i) {
    EXPECT_MARKS(client(i * kSecond, {.seq = 101, .ack = 1, .bytes = 1}), "probe");
    EXPECT_MARKS(server(i * kSecond + kMs, {.seq = 1, .ack = 101, .window = 0}), "zero window, probe ack");
  }
  EXPECT_MARKS(server(4 * kSecond, {.seq = 1, .ack = 101}), "window update");
  EXPECT_MARKS(client(4 * kSecond + kMs, {.seq = 101, .ack = 1, .bytes = 100}), "") << "the probes' byte is in it";
  expect_rtt(server(4 * kSecond + 3 * kMs, {.seq = 1, .ack = 201}), 2 * kMs);
}

TEST_P(Connection, AProbesByteMayBeTakenWhileTheWindowStaysClosed) {
  for (const std::uint32_t next : {102u, 101u}) {
    begin_anew();
    shake_hands();
    client(2 * kMs, {.seq = 1, .ack = 1, .bytes = 100});
    server(3 * kMs, {.seq = 1, .ack = 101, .window = 0});
    client(kSecond, {.seq = 101, .ack = 1, .bytes = 1});
    const TcpFinding ack = server(kSecond + kMs, {.seq = 1, .ack = 102, .window = 0});
    EXPECT_MARKS(ack, "zero window, probe ack");
    expect_rtt(ack, kMs);
    EXPECT_MARKS(server(2 * kSecond, {.seq = 1, .ack = 102}), "window update");
    EXPECT_MARKS(client(2 * kSecond + kMs, {.seq = next, .ack = 1, .bytes = 100}), "") << "from " << next;
  }
}

TEST_P(Connection, AProbesByteMayBeTakenAsTheWindowOpens) {
  shake_hands();
  client(2 * kMs, {.seq = 1, .ack = 1, .bytes = 100});
  server(3 * kMs, {.seq = 1, .ack = 101, .window = 0});
  client(kSecond, {.seq = 101, .ack = 1, .bytes = 1});
  EXPECT_MARKS(server(kSecond + kMs, {.seq = 1, .ack = 102}), "window update") << "and no ack of unseen data";
  EXPECT_MARKS(client(kSecond + 2 * kMs, {.seq = 102, .ack = 1, .bytes = 100}), "");
}

TEST_P(Connection, OneByteIntoAnOpenWindowIsNoProbe) {
  shake_hands();
  EXPECT_MARKS(client(2 * kMs, {.seq = 1, .ack = 1, .bytes = 1}), "");
  EXPECT_MARKS(client(3 * kMs, {.seq = 2, .ack = 1, .bytes = 1}), "");
}

TEST_P(Connection, AGapIsReportedOnceAndCanBeFilled) {
  shake_hands();
  client(2 * kMs, {.seq = 1, .ack = 1, .bytes = 100});
  EXPECT_MARKS(client(2 * kMs, {.seq = 201, .ack = 1, .bytes = 100}), "lost segment");
  EXPECT_MARKS(client(2 * kMs, {.seq = 301, .ack = 1, .bytes = 100}), "");
  EXPECT_MARKS(server(3 * kMs, {.seq = 1, .ack = 101}), "");
  EXPECT_MARKS(client(20 * kMs, {.seq = 101, .ack = 1, .bytes = 100}), "retransmission");
  const TcpFinding filled = server(21 * kMs, {.seq = 1, .ack = 201});
  EXPECT_MARKS(filled, "");
  EXPECT_TRUE(filled.rtt_ambiguous) << "it was sent before, and lost on its way here";
  EXPECT_MARKS(server(21 * kMs, {.seq = 1, .ack = 401}), "") << "all of it was seen";
  EXPECT_EQ(free_chunks(), kChunks);
}

TEST_P(Connection, AnAckOfWhatWasNotSeenIsReportedOnce) {
  shake_hands();
  client(2 * kMs, {.seq = 1, .ack = 1, .bytes = 100});
  const TcpFinding ack = server(3 * kMs, {.seq = 1, .ack = 201});
  EXPECT_MARKS(ack, "ack of unseen");
  EXPECT_EQ(ack.rtt_ns, TcpFinding::kNone) << "the segment it is of was not seen";
  EXPECT_MARKS(server(3 * kMs, {.seq = 1, .ack = 201, .bytes = 10}), "");
  EXPECT_MARKS(server(3 * kMs, {.seq = 11, .ack = 201, .bytes = 10}), "");
  EXPECT_MARKS(client(4 * kMs, {.seq = 201, .ack = 21, .bytes = 100}), "lost segment");
  expect_rtt(server(5 * kMs, {.seq = 21, .ack = 301}), kMs);
  EXPECT_MARKS(server(6 * kMs, {.seq = 21, .ack = 401}), "ack of unseen") << "anew";
}

TEST_P(Connection, AnAckIntoAGapIsOfWhatWasNotSeen) {
  shake_hands();
  client(2 * kMs, {.seq = 1, .ack = 1, .bytes = 100});
  client(2 * kMs, {.seq = 201, .ack = 1, .bytes = 100});
  EXPECT_MARKS(server(3 * kMs, {.seq = 1, .ack = 201}), "ack of unseen") << "101 to 200 passed by elsewhere";
  const TcpFinding last = server(4 * kMs, {.seq = 1, .ack = 301});
  EXPECT_MARKS(last, "");
  expect_rtt(last, 2 * kMs);
}

TEST_P(Connection, AConnectionThatIsUnderWayBeginsWithWhatIsSeenFirst) {
  EXPECT_MARKS(client(0, {.seq = 1001, .ack = 501, .bytes = 100}), "");
  const TcpFinding ack = server(kMs, {.seq = 501, .ack = 1101, .bytes = 50});
  EXPECT_MARKS(ack, "");
  expect_rtt(ack, kMs);
  EXPECT_EQ(ack.handshake_ns, TcpFinding::kNone);
  const TcpFinding back = client(3 * kMs, {.seq = 1101, .ack = 551});
  EXPECT_MARKS(back, "");
  expect_rtt(back, 2 * kMs);
  EXPECT_EQ(back.handshake_ns, TcpFinding::kNone);
  EXPECT_EQ(connection_.handshake_ns, 0u);
  EXPECT_MARKS(client(4 * kMs, {.seq = 1101, .ack = 551, .bytes = 100}), "");
}

TEST_P(Connection, AGapIsSeenBehindAFirstPacketWithoutData) {
  client(0, {.seq = 1001, .ack = 501});
  EXPECT_MARKS(client(kMs, {.seq = 1101, .ack = 501, .bytes = 100}), "lost segment");
}

TEST_P(Connection, BytesFromBeforeTheFirstThatWereSeenAreOutOfOrderOrSentAgain) {
  client(0, {.seq = 1001, .ack = 501, .bytes = 100});
  EXPECT_MARKS(client(kMs, {.seq = 901, .ack = 501, .bytes = 100}), "out of order");
  EXPECT_MARKS(client(2 * kMs, {.seq = 801, .ack = 501, .bytes = 50}), "out of order");
  EXPECT_MARKS(client(9 * kMs, {.seq = 851, .ack = 501, .bytes = 50}), "retransmission");
}

TEST_P(Connection, MayCarryMoreThanNumbersGoRound) {
  constexpr std::uint32_t kPart = 1u << 29;
  shake_hands();
  std::uint32_t seq = 1;
  std::uint64_t at_ns = 2 * kMs;
  for (int i = 0; i < 20; ++i, at_ns += 500 * kMs) {
    EXPECT_MARKS(client(at_ns, {.seq = seq, .ack = 1, .bytes = kPart}), "") << i;
    EXPECT_MARKS(client(at_ns + kMs, {.seq = seq + kPart + 100, .ack = 1, .bytes = 100}), "lost segment") << i;
    EXPECT_MARKS(client(at_ns + kMs, {.seq = seq + kPart, .ack = 1, .bytes = 100}), "out of order") << i;
    EXPECT_MARKS(client(at_ns + 200 * kMs, {.seq = seq, .ack = 1, .bytes = kPart}), "retransmission") << i;
    seq += kPart + 200;
    const TcpFinding ack = server(at_ns + 201 * kMs, {.seq = 1, .ack = seq});
    EXPECT_MARKS(ack, "") << i;
    EXPECT_EQ(ack.rtt_ns, 200 * kMs);
    EXPECT_EQ(free_chunks(), kChunks) << i;
  }
}

TEST_P(Connection, WhatWasAcknowledgedBeforeTheFirstPacketSeenIsSentAgainForNothing) {
  server(0, {.seq = 501, .ack = 1101});
  EXPECT_MARKS(client(kMs, {.seq = 1001, .ack = 501, .bytes = 100}), "retransmission, spurious");
  EXPECT_MARKS(client(kMs, {.seq = 901, .ack = 501, .bytes = 50}), "retransmission, spurious");
}

TEST_P(Connection, ASynWithAnotherNumberBeginsAnewBetweenTheSamePorts) {
  shake_hands();
  client(2 * kMs, {.seq = 1, .ack = 1, .bytes = 100});
  server(2 * kMs, {.seq = 1, .ack = 1, .bytes = 100});
  client(3 * kMs, {.seq = 1001, .ack = 1, .bytes = 100});
  packed_.flows() = 2;
  first_[kClient] += 77'777;
  first_[kServer] -= 1'999'999'999;
  EXPECT_MARKS(client(kSecond, {.flags = kSyn}), "reused ports");
  EXPECT_EQ(packed_.flows(), 2u) << "those are still there";
  EXPECT_EQ(free_chunks(), kChunks);
  EXPECT_EQ(kept(kClient), 1u);
  EXPECT_EQ(kept(kServer), 0u);
  const TcpFinding syn_ack = server(kSecond + kMs, {.ack = 1, .flags = kSyn | kAck});
  EXPECT_MARKS(syn_ack, "");
  expect_rtt(syn_ack, kMs);
  const TcpFinding ack = client(kSecond + 3 * kMs, {.seq = 1, .ack = 1});
  EXPECT_MARKS(ack, "");
  EXPECT_EQ(ack.handshake_ns, 3 * kMs);
  EXPECT_MARKS(client(kSecond + 4 * kMs, {.seq = 1, .ack = 1, .bytes = 100}), "");
}

TEST_P(Connection, TheOtherEndMayBeginAnewToo) {
  shake_hands();
  first_[kClient] += 5000, first_[kServer] += 5000;
  EXPECT_MARKS(server(kSecond, {.flags = kSyn}), "reused ports");
  expect_rtt(client(kSecond + kMs, {.ack = 1, .flags = kSyn | kAck}), kMs);
  EXPECT_EQ(server(kSecond + 2 * kMs, {.seq = 1, .ack = 1}).handshake_ns, 2 * kMs);
}

TEST_P(Connection, ARefusalsNumberIsNoBeginning) {
  for (const bool same_number : {true, false}) {
    begin_anew();
    client(0, {.flags = kSyn});
    const std::uint32_t listening = std::exchange(first_[kServer], 0);  // who refuses has the number 0
    EXPECT_MARKS(server(kMs, {.ack = 1, .flags = kRst | kAck, .window = 0}), "");
    first_[kServer] = listening;
    if (!same_number) first_[kClient] += 12'345;
    EXPECT_MARKS(client(kSecond, {.flags = kSyn}), same_number ? "retransmission" : "reused ports");
    const TcpFinding syn_ack = server(kSecond + kMs, {.ack = 1, .flags = kSyn | kAck});
    EXPECT_MARKS(syn_ack, "");
    EXPECT_EQ(syn_ack.rtt_ns, kMs);
    const TcpFinding ack = client(kSecond + 2 * kMs, {.seq = 1, .ack = 1});
    EXPECT_MARKS(ack, "");
    EXPECT_EQ(ack.handshake_ns, 2 * kMs);
    EXPECT_MARKS(server(kSecond + 3 * kMs, {.seq = 1, .ack = 1, .bytes = 100}), "");
  }
}

TEST_P(Connection, ARefusalWithATextKeepsNoSegment) {
  client(0, {.flags = kSyn});
  server(kMs, {.ack = 1, .bytes = 10, .flags = kRst | kAck});
  EXPECT_EQ(kept(kClient), 0u);
  EXPECT_EQ(free_chunks() + (kept(kServer) != 0), kChunks) << "one belongs to nobody";
}

TEST_P(Connection, ARoundTripIsAmbiguousWhereASegmentWasSentTwice) {
  shake_hands();
  client(2 * kMs, {.seq = 1, .ack = 1, .bytes = 100});
  client(300 * kMs, {.seq = 1, .ack = 1, .bytes = 100});
  const TcpFinding ack = server(301 * kMs, {.seq = 1, .ack = 101});
  EXPECT_NE(ack.rtt_ns, TcpFinding::kNone);
  EXPECT_TRUE(ack.rtt_ambiguous);
  client(302 * kMs, {.seq = 101, .ack = 1, .bytes = 100});
  expect_rtt(server(304 * kMs, {.seq = 1, .ack = 201}), 2 * kMs);
}

TEST_P(Connection, ARoundTripIsAmbiguousWhereAPartWasSentTwiceOrAnotherWay) {
  shake_hands();
  client(2 * kMs, {.seq = 1, .ack = 1, .bytes = 100});
  client(300 * kMs, {.seq = 1, .ack = 1, .bytes = 40});
  EXPECT_TRUE(server(301 * kMs, {.seq = 1, .ack = 101}).rtt_ambiguous) << "a part";
  client(400 * kMs, {.seq = 101, .ack = 1, .bytes = 50});
  client(400 * kMs, {.seq = 151, .ack = 1, .bytes = 50});
  client(700 * kMs, {.seq = 101, .ack = 1, .bytes = 100});
  EXPECT_TRUE(server(701 * kMs, {.seq = 1, .ack = 201}).rtt_ambiguous) << "two in one";
}

TEST_P(Connection, TimeStampsTellWhichOfTwoSendingsWasAcknowledged) {
  for (const bool second : {false, true}) {
    begin_anew();
    shake_hands();
    client(2 * kMs, {.seq = 1, .ack = 1, .bytes = 100, .ts_value = 1002, .ts_echo = 1});
    client(300 * kMs, {.seq = 1, .ack = 1, .bytes = 100, .ts_value = 1300, .ts_echo = 1});
    const TcpFinding ack = server(302 * kMs, {.seq = 1, .ack = 101, .ts_value = 2, .ts_echo = second ? 1300u : 1002u});
    EXPECT_EQ(ack.rtt_ns, second ? 2 * kMs : 300 * kMs) << "of the " << (second ? "second" : "first");
    EXPECT_FALSE(ack.rtt_ambiguous) << "of the " << (second ? "second" : "first");
  }
}

TEST_P(Connection, TimeStampsOfOneValueTellNothing) {
  shake_hands();
  client(2 * kMs, {.seq = 1, .ack = 1, .bytes = 100, .ts_value = 1002, .ts_echo = 1});
  client(2100 * kUs, {.seq = 1, .ack = 1, .bytes = 100, .ts_value = 1002, .ts_echo = 1});
  EXPECT_TRUE(server(3 * kMs, {.seq = 1, .ack = 101, .ts_value = 2, .ts_echo = 1002}).rtt_ambiguous);
}

TEST_P(Connection, ATimeStampOfAnotherSegmentTellsNothing) {
  shake_hands();
  client(2 * kMs, {.seq = 1, .ack = 1, .bytes = 100, .ts_value = 1002, .ts_echo = 1});
  client(300 * kMs, {.seq = 1, .ack = 1, .bytes = 100, .ts_value = 1300, .ts_echo = 1});
  EXPECT_TRUE(server(302 * kMs, {.seq = 1, .ack = 101, .ts_value = 2, .ts_echo = 900}).rtt_ambiguous);
}

TEST_P(Connection, ARoundTripIsAmbiguousWhereItsAcknowledgementHadWaitedForAHole) {
  shake_hands();
  for (std::uint32_t i = 0; i < 3; ++i) client(2 * kMs, {.seq = 1 + 100 * i, .ack = 1, .bytes = 100});
  client(300 * kMs, {.seq = 1, .ack = 1, .bytes = 100});
  const TcpFinding ack = server(301 * kMs, {.seq = 1, .ack = 301});
  EXPECT_EQ(ack.rtt_ns, 299 * kMs) << "though its last segment was sent once";
  EXPECT_TRUE(ack.rtt_ambiguous);

  client(400 * kMs, {.seq = 401, .ack = 1, .bytes = 100});  // what is before it was lost on its way here
  client(401 * kMs, {.seq = 301, .ack = 1, .bytes = 100});
  EXPECT_TRUE(server(402 * kMs, {.seq = 1, .ack = 501}).rtt_ambiguous) << "seen later alone";
  client(500 * kMs, {.seq = 501, .ack = 1, .bytes = 100});
  client(500 * kMs, {.seq = 601, .ack = 1, .bytes = 100});
  expect_rtt(server(501 * kMs, {.seq = 1, .ack = 701}), kMs);
}

TEST_P(Connection, WhatIsSentLaterThanTheSegmentTimedDoesNotMatterWhereTheAcknowledgementDoesNotNewlyCoverIt) {
  shake_hands();
  client(2 * kMs, {.seq = 1, .ack = 1, .bytes = 100});
  client(3 * kMs, {.seq = 101, .ack = 1, .bytes = 100});
  client(4 * kMs, {.seq = 201, .ack = 1, .bytes = 100});
  expect_rtt(server(5 * kMs, {.seq = 1, .ack = 101}), 3 * kMs);
  EXPECT_MARKS(client(6 * kMs, {.seq = 1, .ack = 1, .bytes = 100}), "retransmission, spurious");
  expect_rtt(server(7 * kMs, {.seq = 1, .ack = 201}), 4 * kMs);
  expect_rtt(server(8 * kMs, {.seq = 1, .ack = 301}), 4 * kMs);
}

TEST_P(Connection, ATimeStampTellsThatAnAcknowledgementDidNotWait) {
  for (const bool echoed : {true, false}) {
    begin_anew();
    shake_hands();
    client(2 * kMs, {.seq = 1, .ack = 1, .bytes = 100, .ts_value = 1002, .ts_echo = 1});
    client(3 * kMs, {.seq = 101, .ack = 1, .bytes = 100, .ts_value = 1003, .ts_echo = 1});
    client(300 * kMs, {.seq = 1, .ack = 1, .bytes = 100, .ts_value = 1300, .ts_echo = 1});
    const TcpFinding ack = server(301 * kMs, {.seq = 1, .ack = 201, .ts_value = 2, .ts_echo = echoed ? 1003u : 1300u});
    EXPECT_EQ(ack.rtt_ns, 298 * kMs);
    EXPECT_EQ(ack.rtt_ambiguous, !echoed);
  }
}

TEST_P(Connection, AHandshakeIsEndedByTheOneWhoBeganIt) {
  client(0, {.flags = kSyn});
  server(kMs, {.ack = 1, .flags = kSyn | kAck});
  EXPECT_EQ(server(2 * kMs, {.seq = 1, .ack = 1}).handshake_ns, TcpFinding::kNone);
  EXPECT_EQ(server(3 * kMs, {.seq = 1, .ack = 1, .bytes = 10}).handshake_ns, TcpFinding::kNone);
  EXPECT_EQ(client(4 * kMs, {.seq = 1, .ack = 1}).handshake_ns, 4 * kMs);
}

TEST_P(Connection, AHandshakeThatTheOtherEndGivesUpIsNotTimed) {
  client(0, {.flags = kSyn});
  server(kMs, {.ack = 1, .flags = kSyn | kAck});
  EXPECT_EQ(server(900 * kMs, {.seq = 1, .ack = 1, .flags = kRst | kAck}).handshake_ns, TcpFinding::kNone);
  EXPECT_EQ(client(901 * kMs, {.seq = 1, .ack = 1, .flags = kRst | kAck}).handshake_ns, TcpFinding::kNone);
  EXPECT_EQ(connection_.handshake_ns, 0u);
}

TEST_P(Connection, ALaterPacketEndsNoHandshake) {
  client(0, {.flags = kSyn});
  server(kMs, {.ack = 1, .flags = kSyn | kAck});
  EXPECT_EQ(client(60 * kMs, {.seq = 501, .ack = 1, .bytes = 10}).handshake_ns, TcpFinding::kNone) << "one was lost";
  EXPECT_EQ(client(61 * kMs, {.seq = 1, .ack = 1, .bytes = 500}).handshake_ns, TcpFinding::kNone);
}

TEST_P(Connection, APartlyAcknowledgedSegmentStaysUntilAllOfItIs) {
  shake_hands();
  client(2 * kMs, {.seq = 1, .ack = 1, .bytes = 100});
  client(2 * kMs, {.seq = 101, .ack = 1, .bytes = 100});
  const TcpFinding part = server(3 * kMs, {.seq = 1, .ack = 51});
  EXPECT_MARKS(part, "");
  EXPECT_EQ(part.rtt_ns, TcpFinding::kNone);
  EXPECT_EQ(kept(kClient), 2u);
  expect_rtt(server(4 * kMs, {.seq = 1, .ack = 101}), 2 * kMs);
  EXPECT_EQ(kept(kClient), 1u);
  EXPECT_EQ(server(5 * kMs, {.seq = 1, .ack = 151}).rtt_ns, TcpFinding::kNone);
  EXPECT_MARKS(client(5 * kMs, {.seq = 151, .ack = 1, .bytes = 50}), "retransmission") << "what was left of it";
  EXPECT_TRUE(server(6 * kMs, {.seq = 1, .ack = 201}).rtt_ambiguous);
  EXPECT_EQ(free_chunks(), kChunks);
}

TEST_P(Connection, WithoutTheAckFlagThereIsNoAcknowledgement) {
  shake_hands();
  client(2 * kMs, {.seq = 1, .ack = 1, .bytes = 100});
  const TcpFinding none = server(3 * kMs, {.seq = 1, .ack = first_[kClient] + 101, .bytes = 10, .flags = 8});
  EXPECT_MARKS(none, "");
  EXPECT_EQ(none.rtt_ns, TcpFinding::kNone);
  EXPECT_EQ(kept(kClient), 1u) << "it waits";
  EXPECT_EQ(kept(kServer), 1u);
  expect_rtt(server(4 * kMs, {.seq = 11, .ack = 101}), 2 * kMs);
}

TEST_P(Connection, WhatStandsForAnAcknowledgementWithoutItsFlagIsNone) {
  shake_hands();
  client(2 * kMs, {.seq = 1, .ack = 1, .bytes = 100});
  server(3 * kMs, {.seq = 1, .ack = 0x5000'0000, .bytes = 10, .flags = 8});
  EXPECT_MARKS(client(4 * kMs, {.seq = 101, .ack = 1, .bytes = 100}), "") << "new, though below that number";
  EXPECT_MARKS(client(300 * kMs, {.seq = 101, .ack = 1, .bytes = 100}), "retransmission") << "and not spurious";
}

TEST_P(Connection, AResetEndsWithoutFurtherMarks) {
  shake_hands();
  client(2 * kMs, {.seq = 1, .ack = 1, .bytes = 100});
  EXPECT_MARKS(client(3 * kMs, {.seq = 501, .flags = kRst, .window = 0}), "") << "beyond what was sent";
  EXPECT_MARKS(server(3 * kMs, {.seq = 1, .flags = kRst, .window = 0}), "");
  EXPECT_MARKS(server(3 * kMs, {.seq = 1, .ack = 101, .flags = kRst | kAck, .window = 0}), "");
}

TEST_P(Connection, TimeThatGoesBackGivesTimesOfZero) {
  client(10 * kMs, {.flags = kSyn});
  expect_rtt(server(9 * kMs, {.ack = 1, .flags = kSyn | kAck}), 0);
  const TcpFinding ack = client(8 * kMs, {.seq = 1, .ack = 1});
  expect_rtt(ack, 0);
  EXPECT_EQ(ack.handshake_ns, 0u);
  EXPECT_MARKS(client(7 * kMs, {.seq = 1, .ack = 1, .bytes = 100}), "");
  EXPECT_MARKS(client(6 * kMs, {.seq = 201, .ack = 1, .bytes = 100}), "lost segment");
  EXPECT_MARKS(client(5 * kMs, {.seq = 101, .ack = 1, .bytes = 100}), "out of order");
  const TcpFinding filled = server(4 * kMs, {.seq = 1, .ack = 301});
  EXPECT_EQ(filled.rtt_ns, 0u);
  EXPECT_TRUE(filled.rtt_ambiguous) << "it had waited for what came last";
  EXPECT_MARKS(client(3 * kMs, {.seq = 301, .ack = 1, .bytes = 100}), "");
  expect_rtt(server(2 * kMs, {.seq = 1, .ack = 401}), 0);
}

TEST_P(Connection, AHandshakeThatTookNoTimeIsToldOnce) {
  client(0, {.flags = kSyn});
  server(0, {.ack = 1, .flags = kSyn | kAck});
  EXPECT_EQ(client(0, {.seq = 1, .ack = 1}).handshake_ns, 0u);
  EXPECT_EQ(client(kMs, {.seq = 1, .ack = 1, .bytes = 100}).handshake_ns, TcpFinding::kNone);
}

TEST_P(Connection, AHandshakeMayBeginAtTheTimeZero) {
  const auto at = [this](std::size_t from, std::uint64_t time_ns, std::uint32_t seq, std::uint32_t ack,
                         std::uint16_t flags) {
    const TcpFacts tcp{
        .seq = first_[from] + seq, .ack = (flags & kAck) != 0 ? first_[1 - from] + ack : 0, .present = true};
    return take(from, tcp, flags, time_ns);
  };
  at(kClient, 0, 0, 0, kSyn);
  expect_rtt(at(kServer, kMs, 0, 1, kSyn | kAck), kMs);
  EXPECT_EQ(at(kClient, 2 * kMs, 1, 1, kAck).handshake_ns, 2 * kMs);
}

TEST_P(Connection, DataThatWasAcknowledgedBeforeItCameIsOldThoughItIsTheNext) {
  server(0, {.seq = 1, .ack = 1});
  server(kMs, {.seq = 1, .ack = 1001});
  client(2 * kMs, {.seq = 1, .ack = 1, .bytes = 100});
  EXPECT_MARKS(client(3 * kMs, {.seq = 101, .ack = 1, .bytes = 100}), "retransmission, spurious");
}

TEST_P(Connection, TheFirstAcknowledgementMayComeAfterData) {
  client(0, {.seq = 1, .bytes = 100, .flags = 8});
  EXPECT_MARKS(client(kMs, {.seq = 101, .ack = 1, .bytes = 100}), "");
  EXPECT_MARKS(server(2 * kMs, {.seq = 1, .ack = 201, .bytes = 100}), "");
  EXPECT_MARKS(client(3 * kMs, {.seq = 201, .ack = 101, .bytes = 100}), "");
}

TEST_P(Connection, WhatIsSentAgainBehindAllGapsIsARetransmissionHoweverMuchIsInFlight) {
  shake_hands();
  for (std::uint32_t i = 0; i < 5000; ++i) client(2 * kMs + i, {.seq = 1 + 100 * i, .ack = 1, .bytes = 100});
  EXPECT_MARKS(client(3 * kMs, {.seq = 250'001, .ack = 1, .bytes = 100}), "retransmission");
  client(3 * kMs + 1, {.seq = 500'101, .ack = 1, .bytes = 100});  // behind a gap of one segment
  EXPECT_MARKS(client(3 * kMs + 2, {.seq = 500'001, .ack = 1, .bytes = 100}), "out of order");
  EXPECT_MARKS(client(3 * kMs + 3, {.seq = 500'001, .ack = 1, .bytes = 100}), "retransmission");
}

TEST_P(Connection, AnAcknowledgementOfMoreThanCouldBeKeptTellsNoTime) {
  shake_hands();
  for (std::uint32_t i = 0; i <= SegmentPool::kMostPerSender; ++i)
    client(2 * kMs + i, {.seq = 1 + 100 * i, .ack = 1, .bytes = 100});
  EXPECT_EQ(pool_.dropped(), 1u);
  EXPECT_EQ(server(9 * kMs, {.seq = 1, .ack = 101 + 100 * SegmentPool::kMostPerSender}).rtt_ns, TcpFinding::kNone)
      << "its last segment was not kept";
}

TEST_P(Connection, ARoundTripIsAmbiguousWhereAPartOfTheSegmentWasSentAgain) {
  shake_hands();
  client(2 * kMs, {.seq = 1, .ack = 1, .bytes = 100});
  EXPECT_MARKS(client(300 * kMs, {.seq = 1, .ack = 1, .bytes = 50}), "retransmission");
  EXPECT_TRUE(server(301 * kMs, {.seq = 1, .ack = 101}).rtt_ambiguous);
  client(302 * kMs, {.seq = 101, .ack = 1, .bytes = 100});
  expect_rtt(server(303 * kMs, {.seq = 1, .ack = 201}), kMs);
}

TEST_P(Connection, AJumpWithoutDataTellsNoTime) {
  shake_hands();
  client(2 * kMs, {.seq = 1, .ack = 1, .bytes = 100});
  client(3 * kMs, {.seq = 201, .ack = 1});
  client(4 * kMs, {.seq = 101, .ack = 1});
  EXPECT_EQ(server(5 * kMs, {.seq = 1, .ack = 201}).rtt_ns, TcpFinding::kNone) << "no segment ends there";
}

TEST_P(Connection, AnAcknowledgementAtHalfOfAllNumbersIsOfUnseenData) {
  shake_hands();
  server(2 * kMs, {.seq = 1, .ack = 1, .bytes = 100});
  EXPECT_MARKS(client(3 * kMs, {.seq = 1, .ack = 101 + 0x8000'0000, .bytes = 100}), "ack of unseen");
}

/// The other's route has changed: of 4 GiB of data no acknowledgement is seen.
TEST_P(Connection, WhatIsHalfOfAllNumbersBeyondTheLastAcknowledgementIsTakenForOld) {
  shake_hands();
  std::size_t spurious = 0;
  for (std::uint32_t i = 0; i < 67'000 && !HasFailure(); ++i)
    spurious += client(2 * kMs + i, {.seq = 1 + 65'000 * i, .ack = 1, .bytes = 65'000})
                    .marks.has(TcpMark::spurious_retransmission);
  EXPECT_GT(spurious, 30'000u);
}

TEST_P(Connection, TwoSegmentsOfAnEndNeedNoMemoryThoughTheOtherIsSilent) {
  for (std::uint32_t i = 0; i < 2; ++i) client(i * kMs, {.seq = 500 + 100 * i, .ack = 700, .bytes = 100});
  EXPECT_EQ(kept(kClient), 2u);
  EXPECT_EQ(free_chunks(), kChunks);
  client(3 * kMs, {.seq = 700, .ack = 700, .bytes = 100});
  EXPECT_EQ(free_chunks(), kChunks - 1);
  expect_rtt(server(9 * kMs, {.seq = 700, .ack = 800}), 6 * kMs);
  EXPECT_EQ(free_chunks(), kChunks);
}

TEST_P(Connection, SegmentsAreForgottenWithoutMemory) {
  pool_ = SegmentPool(0);
  has_room_ = false;
  CompactConnection connection;
  TcpFinding finding;
  for (std::uint32_t i = 0; i < 2; ++i)
    connection.analyse(kClient, {.seq = 500 + 100 * i, .ack = 700, .payload_bytes = 100, .window = 5, .present = true},
                       kAck, kStart + i, pool_, finding);
  for (const std::size_t end : {kClient, kServer}) connection.forget_segments(end, pool_);
  EXPECT_EQ(pool_.dropped(), 0u);
  EXPECT_EQ(connection.unpack(pool_).sender[kClient].unacked.count, 0u);
}

/// Two ends that mostly do what they should, and at any time something else.
TEST_P(Connection, InCompactFormItIsTheSameConnection) {
  SplitMix64 random(GetParam().client + 1);
  for (const std::uint64_t one_odd_in : {60, 2000})
    for (const bool far : {false, true}) {
      SCOPED_TRACE(std::to_string(one_odd_in) + (far ? ", far jumps" : ""));
      pool_ = SegmentPool(kChunks), pool_of_any_ = SegmentPool(kChunks);
      begin_anew();
      ASSERT_NO_FATAL_FAILURE(play_anything(random, far, one_odd_in));
    }
}

TEST_P(Connection, InCompactFormItLosesOnlySegmentsWithoutRoom) {
  SplitMix64 random(GetParam().client + 1);
  has_room_ = false;
  for (const std::size_t chunks : {0, 2}) {
    SCOPED_TRACE(std::to_string(chunks) + " chunks");
    pool_ = SegmentPool(chunks), pool_of_any_ = SegmentPool(chunks);
    begin_anew();
    ASSERT_NO_FATAL_FAILURE(play_anything(random, true, 60));
    EXPECT_GT(pool_.dropped(), 0u);
    connection_ = packed_.unpack(pool_);
    for (TcpSender& sender : connection_.sender) pool_.clear(sender.unacked);
    EXPECT_EQ(free_chunks(), chunks);
  }
}

void Connection::play_anything(SplitMix64& random, bool far, std::uint64_t one_odd_in) {
  std::uint32_t next[2] = {1, 1};
  std::size_t rtts = 0, marked = 0;
  unpacks_ = true;
  shake_hands();
  std::uint64_t now_ns = kMs;
  for (int i = 0; i < 20'000; ++i) {
    const std::size_t from = random.below(2);
    Packet packet{.seq = next[from], .ack = next[1 - from], .ts_value = static_cast<std::uint32_t>(i / 8 + 1)};
    packet.bytes = random.below(3) == 0 ? 0 : static_cast<std::uint32_t>(random.below(5) == 0 ? 1 : random.below(1500));
    if (random.below(4) == 0) packet.ack -= static_cast<std::uint32_t>(random.below(3000));
    const std::uint64_t odd = random.below(one_odd_in);
    if (odd == 0) packet.seq -= static_cast<std::uint32_t>(random.below(4000));
    if (odd == 1) packet.seq += static_cast<std::uint32_t>(random.below(3000));
    if (odd == 2) packet.ack += static_cast<std::uint32_t>(random.below(3000));
    if (odd == 3) packet.window = 0;
    if (odd == 4) packet.seq -= 1, packet.bytes = static_cast<std::uint32_t>(random.below(2));
    if (odd == 5) packet.flags = static_cast<std::uint16_t>(random.below(64));
    if (odd == 6 || random.below(2) == 0) packet.window = static_cast<std::uint16_t>(random.below(4) + 1);
    if (random.below(2) == 0) packet.ts_echo = static_cast<std::uint32_t>(i / 8 + 1 - random.below(3));
    now_ns += odd == 7 ? 30 * kMs : random.below(kMs);
    if (odd == 8) now_ns -= kMs / 2;
    if (odd == 9) packet.bytes = 0, packet.seq += random.below(2) == 0 ? 100 : 0;
    const auto anywhere = static_cast<std::uint32_t>(0x8000'0000 - 2 + random.below(5));
    if (far && odd == 10) packet.ack += anywhere;
    if (far && odd == 11) packet.seq += anywhere;
    unpacks_ = random.below(4) == 0;
    const TcpFinding finding = send(from, now_ns, packet);
    ASSERT_FALSE(HasFailure()) << "of packet " << i;
    rtts += finding.rtt_ns != TcpFinding::kNone;
    marked += finding.marks.bits() != 0;
    const std::uint32_t end = packet.seq + packet.bytes;
    if (static_cast<std::int32_t>(end - next[from]) > 0) next[from] = end;
    if (static_cast<std::int32_t>(packet.ack - next[1 - from]) > 0) next[1 - from] = packet.ack;
  }
  EXPECT_GT(rtts, far ? 100u : 2000u);
  EXPECT_GT(marked, one_odd_in > 60 ? 100u : 2000u);
}

INSTANTIATE_TEST_SUITE_P(Numbers, Connection,
                         ::testing::Values(Numbers{"low", 1000, 77}, Numbers{"zero", 0, 0},
                                           Numbers{"client_wraps_after_the_syn", ~0u, 5},
                                           Numbers{"both_wrap_in_the_first_bytes", ~0u - 40, ~0u - 3},
                                           Numbers{"both_wrap_between_segments", ~0u - 200, ~0u - 10},
                                           Numbers{"both_wrap_in_the_middle", ~0u - 255, ~0u - 20},
                                           Numbers{"about_half", 0x7FFF'FF9C, 0x8000'0000}),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace parshall
