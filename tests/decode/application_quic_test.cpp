// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "pipeline/decode/application/libcrypto.hpp"
#include "pipeline/decode/application/quic.hpp"
#include "pipeline/decode/application/quic_frames.hpp"
#include "quic_packets.hpp"

// In builds with OpenSSL.

namespace parshall::testing {
namespace {

/// CRYPTO frame of RFC 9001 and RFC 9369, appendices A.2: a ClientHello for example.com.
constexpr std::string_view kRfcFrame =
    "060040f1010000ed0303ebf8fa56f12939b9584a3896472ec40bb863cfd3e86804fe3a47f06a2b69484c000004130113"
    "02010000c000000010000e00000b6578616d706c652e636f6dff01000100000a00080006001d00170018001000070005"
    "04616c706e000500050100000000003300260024001d00209370b2c9caa47fbabaf4559fedba753de171fa71f50f1ce1"
    "5d43e994ec74d748002b0003020304000d0010000e0403050306030203080408050806002d00020101001c0002400100"
    "3900320408ffffffffffffffff05048000ffff07048000ffff0801100104800075300901100f088394c8f03e51570806"
    "048000ffff";
/// Server's Initial packet of RFC 9001, A.3.
constexpr std::string_view kRfcServerPacket =
    "cf000000010008f067a5502a4262b5004075c0d95a482cd0991cd25b0aac406a5816b6394100f37a1c69797554780bb3"
    "8cc5a99f5ede4cf73c3ec2493a1839b3dbcba3f6ea46c5b7684df3548e7ddeb9c3bf9c73cc3f3bded74b562bfb19fb84"
    "022f8ef4cdd93795d77d06edbb7aaf2f58891850abbdca3d20398c276456cbc42158407dd074ee";

struct QuicRead {
  Reading reading;
  ApplicationFacts facts;
};
/// Reads datagrams of one flow, as long as more are needed.
QuicRead read_quic(const std::vector<Bytes>& datagrams) {
  QuicReader reader;
  const auto flow = std::make_unique<QuicFlow>();
  QuicRead result{Reading::unknown, {}};
  for (const Bytes& datagram : datagrams) {
    result.reading = reader.read(ExactBytes(datagram).span(), *flow, {.ja4 = true}, result.facts);
    if (result.reading == Reading::done) break;
  }
  return result;
}

Bytes long_hello() {
  return client_hello_bytes({.extensions = {extension(51, Bytes(1500, 3)), server_name_extension("quic.example"),
                                            alpn_extension({text_bytes("h3")}), versions_extension({0x0304})}});
}
Bytes piece(const Bytes& bytes, std::size_t from, std::size_t to) {
  return {bytes.begin() + static_cast<std::ptrdiff_t>(from), bytes.begin() + static_cast<std::ptrdiff_t>(to)};
}
/// A datagram of one packet with part of the hello in it.
Bytes datagram_with(const Bytes& hello, std::size_t from, std::size_t to, InitialParts parts = {}) {
  parts.payload = padded(crypto_frame(static_cast<unsigned>(from), piece(hello, from, to)));
  return initial_packet(parts);
}

TEST(Quic, TheExamplesOfBothVersionsRfcsAreRead) {
  struct Example {
    std::uint32_t version;
    std::string_view begin, end;
  };
  constexpr Example kExamples[] = {
      {kQuicVersion1,
       "c000000001088394c8f03e5157080000449e7b9aec34d1b1c98dd7689fb8ec11d242b123dc9bd8bab936b47d92ec356c",
       "7e78bfe706ca4cf5e9c5453e9f7cfd2b8b4c8d169a44e55c88d4a9a7f9474241e221af44860018ab0856972e194cd934"},
      {kQuicVersion2,
       "d76b3343cf088394c8f03e5157080000449ea0c95e82ffe67b6abcdb4298b485dd04de806071bf03dceebfa162e75d6c",
       "9a37ddec600545473cfb5a05e08d0b209973b2172b4d21fb69745a262ccde96ba18b2faa745b6fe189cf772a9f84cbfc"}};
  for (const auto& [version, begin, end] : kExamples) {
    const Bytes datagram = initial_packet({.version = version, .payload = padded(hex_bytes(kRfcFrame), 1162)});
    ASSERT_EQ(datagram.size(), 1200u);
    ASSERT_EQ(piece(datagram, 0, begin.size() / 2), hex_bytes(begin)) << "the RFC's bytes";
    ASSERT_EQ(piece(datagram, 1200 - end.size() / 2, 1200), hex_bytes(end)) << "with its tag";
    EXPECT_TRUE(QuicReader::may_be_initial(datagram));
    const auto& [reading, facts] = read_quic({datagram});
    EXPECT_EQ(reading, Reading::done);
    EXPECT_EQ(facts.protocol, ApplicationProtocol::quic);
    EXPECT_EQ(facts.server_name.view(), "example.com");
    EXPECT_EQ(facts.alpn.view(), "alpn");
    EXPECT_EQ(facts.tls_version, TlsVersion::tls_1_3);
    EXPECT_TRUE(facts.ja4.view().starts_with("q13d0211an_")) << facts.ja4.view();
  }
  EXPECT_FALSE(crypto_problem());
}

TEST(Quic, AServersInitialIsUnknown) {
  Bytes datagram = hex_bytes(kRfcServerPacket);
  ASSERT_EQ(initial_packet({.destination_id = {},
                            .source_id = hex_bytes("f067a5502a4262b5"),
                            .number = 1,
                            .number_bytes = 2,
                            .payload = hex_bytes(
                                "02000000000600405a020000560303eefce7f7b37ba1d1632e96677825ddf73988cfc79825df566dc5"
                                "430b9a045a1200130100002e00330024001d00209d3c940d89690b84d08a60993c144eca684d1081"
                                "287c834d5311bcf32bb9da1a002b00020304")},
                           "server in"),
            datagram);
  datagram.resize(1200);  // padding behind the packet
  EXPECT_EQ(read_quic({datagram}).reading, Reading::unknown);
  const Bytes long_id(12, 4);
  EXPECT_EQ(
      read_quic({initial_packet({.destination_id = long_id, .payload = padded(hex_bytes(kRfcFrame))}, "server in")})
          .reading,
      Reading::unknown);
}

TEST(Quic, AHelloMayComeInAnyOrderOverDatagrams) {
  const Bytes hello = long_hello();
  const Bytes first = datagram_with(hello, 0, 900, {.number = 0, .number_bytes = 1}),
              second = datagram_with(hello, 900, hello.size(), {.number = 1, .number_bytes = 2});
  EXPECT_EQ(read_quic({first}).reading, Reading::needs_more);
  EXPECT_EQ(read_quic({second}).reading, Reading::needs_more);
  EXPECT_EQ(read_quic({second}).facts.protocol, ApplicationProtocol::quic);
  const auto in_order = read_quic({first, second}), swapped = read_quic({second, first}),
             again = read_quic({first, first, second});
  EXPECT_EQ(in_order.reading, Reading::done);
  EXPECT_EQ(in_order.facts.server_name.view(), "quic.example");
  EXPECT_EQ(swapped.reading, Reading::done);
  EXPECT_EQ(swapped.facts, in_order.facts);
  EXPECT_EQ(again.facts, in_order.facts);
}

TEST(Quic, FramesOfAllKindsMayStandBetweenPiecesInAnyOrder) {
  const Bytes hello = hex_bytes(kRfcFrame.substr(8));
  const Bytes ack = {2, 0x40, 9, 0, 2, 1, 0, 1, 0, 1}, ecn_ack = {3, 9, 0, 0, 1, 4, 5, 6},
              close = {0x1c, 0, 6, 2, 'n', 'o'};
  const Bytes frames = join({{1},
                             ack,
                             crypto_frame(100, piece(hello, 100, 241)),
                             Bytes(5),
                             {1, 1},
                             crypto_frame(10, piece(hello, 10, 60)),
                             ecn_ack,
                             close,
                             crypto_frame(60, piece(hello, 60, 110)),
                             crypto_frame(0, piece(hello, 0, 12))});
  const auto& [reading, facts] = read_quic({initial_packet({.payload = padded(frames)})});
  EXPECT_EQ(reading, Reading::done);
  EXPECT_EQ(facts.server_name.view(), "example.com");
}

TEST(Quic, FramesThatAreNotAllowedOrBrokenEndThePacket) {
  const auto frames_of = [](const Bytes& frames) {
    const auto crypto = std::make_unique<FirstBytes>();
    return read_initial_frames(ExactBytes(frames).span(), *crypto);
  };
  EXPECT_TRUE(frames_of({}));
  EXPECT_TRUE(frames_of({0, 0, 1, 0}));
  for (const std::uint8_t type : Bytes{4, 5, 7, 8, 0x10, 0x1d, 0x1e, 0xff})
    EXPECT_FALSE(frames_of({1, type})) << int{type};
  for (const Bytes& frame :
       {Bytes{6, 0, 2, 9}, Bytes{6, 0}, Bytes{6, 0x40}, Bytes{2, 0, 0, 0xc0, 0, 0, 0, 0, 0, 0, 9, 0},
        Bytes{3, 0, 0, 0, 0, 1}, Bytes{0x1c, 0, 0, 9, 1}})
    EXPECT_FALSE(frames_of(frame));
  EXPECT_TRUE(frames_of({6, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 9}))
      << "an offset beyond all that is kept";
  const auto& [reading, facts] = read_quic({initial_packet({.payload = padded(join({hex_bytes(kRfcFrame), {0x1e}}))})});
  EXPECT_EQ(reading, Reading::done) << "what came before counts";
}

TEST(Quic, PacketsInOneDatagram) {
  const Bytes hello = long_hello();
  const auto packet = [&](std::size_t from, std::size_t to, unsigned number) {
    return initial_packet(
        {.number = number, .payload = crypto_frame(static_cast<unsigned>(from), piece(hello, from, to))});
  };
  const Bytes zero_rtt =
      join({{0xd0, 0, 0, 0, 1}, with_length8(hex_bytes("8394c8f03e515708")), {0}, with_length16(Bytes(50, 1))});
  Bytes zero_rtt_short = zero_rtt;  // its length is a varint of 2 bytes: 0x0032 would be of one
  zero_rtt_short[zero_rtt.size() - 52] = 0x40;
  for (const Bytes& between : {Bytes{}, zero_rtt_short}) {
    const Bytes datagram = join({packet(0, 700, 0), between, packet(700, hello.size(), 1)});
    EXPECT_EQ(read_quic({datagram}).facts.server_name.view(), "quic.example");
    EXPECT_EQ(read_quic({join({datagram, Bytes(30, 0x40)})}).reading, Reading::done) << "a short header behind them";
  }
  const Bytes other_version = join({{0xc0, 0, 0, 0, 9}, Bytes(600)});
  EXPECT_EQ(read_quic({join({packet(0, 700, 0), other_version, packet(700, hello.size(), 1)})}).reading,
            Reading::needs_more);
  const Bytes of_another = initial_packet({.destination_id = hex_bytes("0102030405060708"),
                                           .number = 1,
                                           .payload = crypto_frame(700, piece(hello, 700, hello.size()))});
  EXPECT_EQ(read_quic({join({packet(0, 700, 0), of_another})}).reading, Reading::needs_more)
      << "one datagram is of one connection";
  Bytes small;  // so many that the last of them is left alone
  for (std::size_t i = 0; i < 5; ++i)
    small = join({small, packet(i * 350, i == 4 ? hello.size() : (i + 1) * 350, static_cast<unsigned>(i))});
  EXPECT_EQ(read_quic({small}).reading, Reading::needs_more);
}

TEST(Quic, KeysAreOfTheFirstConnectionIdElseOfThePacketsOwn) {
  const Bytes hello = long_hello(), chosen = hex_bytes("aabb"), other = hex_bytes("0102030405060708");
  const Bytes first = datagram_with(hello, 0, 900);
  EXPECT_EQ(read_quic({first, datagram_with(hello, 900, hello.size(), {.destination_id = chosen})}).reading,
            Reading::done)
      << "the server chose another ID";
  const InitialParts after_retry{.key_id = chosen, .token = Bytes(40, 1)};
  EXPECT_EQ(read_quic({first, datagram_with(hello, 0, 900, after_retry),
                       datagram_with(hello, 900, hello.size(), after_retry)})
                .reading,
            Reading::done);
  EXPECT_EQ(read_quic({datagram_with(hello, 0, 900, after_retry)}).reading, Reading::unknown)
      << "a client's first ID has at least 8 bytes";
  EXPECT_EQ(
      read_quic({first, datagram_with(hello, 900, hello.size(), {.version = kQuicVersion2, .destination_id = other})})
          .reading,
      Reading::done)
      << "the server chose another version";
}

TEST(Quic, EveryFlippedBitMakesItUnknown) {
  const Bytes datagram = initial_packet({.payload = padded(hex_bytes(kRfcFrame))});
  QuicReader reader;
  const auto flow = std::make_unique<QuicFlow>();
  ApplicationFacts facts{};
  for (std::size_t i = 0; i < datagram.size(); ++i) {
    Bytes changed = datagram;
    changed[i] ^= static_cast<std::uint8_t>(1 << i % 8);
    flow->clear();
    EXPECT_EQ(reader.read(ExactBytes(changed).span(), *flow, {}, facts), Reading::unknown) << i;
  }
  EXPECT_EQ(reader.read(ExactBytes(datagram).span(), *flow, {}, facts), Reading::done) << "and the reader goes on";
  for (std::size_t size = 0; size < datagram.size(); ++size)
    EXPECT_EQ(reader.read(ExactBytes(datagram, size).span(), *flow, {}, facts), Reading::unknown) << size;
}

TEST(Quic, OnlyLongDatagramsOfKnownVersionsMayBeInitial) {
  const Bytes good = initial_packet({.payload = padded(hex_bytes(kRfcFrame))});
  const auto may_be = [&](std::size_t at, std::uint8_t value) {
    Bytes changed = good;
    changed[at] = value;
    return QuicReader::may_be_initial(changed);
  };
  EXPECT_TRUE(QuicReader::may_be_initial(good));
  EXPECT_FALSE(QuicReader::may_be_initial(piece(good, 0, 1199)));
  EXPECT_FALSE(may_be(0, 0x40)) << "a short header";
  EXPECT_FALSE(may_be(0, 0x80)) << "without the fixed bit";
  EXPECT_FALSE(may_be(0, 0xd0)) << "0-RTT in version 1";
  EXPECT_FALSE(may_be(4, 2)) << "a version that does not exist";
  EXPECT_FALSE(may_be(5, 21)) << "a connection ID of 21 bytes";
  EXPECT_FALSE(QuicReader::may_be_initial({}));
}

TEST(Quic, ChangedBytesDoNoHarm) {
  QuicReader reader;
  const auto flow = std::make_unique<QuicFlow>();
  for_mutations(initial_packet({.payload = padded(hex_bytes(kRfcFrame))}), 5'000,
                [&](std::span<const std::uint8_t> bytes) {
                  ApplicationFacts facts{};
                  flow->clear();
                  reader.read(bytes, *flow, {.ja4 = true}, facts);
                });
  const Bytes hello = hex_bytes(kRfcFrame.substr(8));
  for_mutations(join({crypto_frame(90, piece(hello, 90, 241)), {1}, crypto_frame(0, piece(hello, 0, 100))}), 20'000,
                [&](std::span<const std::uint8_t> bytes) {
                  flow->clear();
                  read_initial_frames(bytes, flow->crypto);
                  EXPECT_LE(flow->crypto.prefix().size(), FirstBytes::kBytes);
                });
}

}  // namespace
}  // namespace parshall::testing
