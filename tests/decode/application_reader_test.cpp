// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "application_bytes.hpp"
#include "pipeline/decode/application/libcrypto.hpp"
#include "pipeline/decode/application/reader.hpp"

namespace parshall::testing {
namespace {

const Bytes kSomeQuery =
    join({{1, 2, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0}, with_length8(text_bytes("example")), {0, 0, 1, 0, 1}});
const Bytes kSomeHello = tls_record(client_hello_bytes({.extensions = {server_name_extension("a.example")}}));
const Bytes kSomeRequest = text_bytes("GET / HTTP/1.1\r\nHost: b.example\r\n\r\n");

ApplicationProtocol protocol_of_stream(const Bytes& stream, std::uint16_t src_port, std::uint16_t dst_port) {
  ApplicationReader reader;
  ApplicationFacts facts{};
  return reader.read_stream(ExactBytes(stream).span(), src_port, dst_port, facts) == Reading::done
             ? facts.protocol
             : ApplicationProtocol::none;
}
Reading reading_of_datagram(const Bytes& datagram, std::uint16_t src_port, std::uint16_t dst_port) {
  ApplicationReader reader;
  ApplicationFacts facts{};
  const auto flow = std::make_unique<QuicFlow>();
  return reader.read_datagram(ExactBytes(datagram).span(), src_port, dst_port, *flow, facts);
}

TEST(ApplicationReader, FirstBytesChooseTheParserWhateverThePort) {
  for (const std::uint16_t port : std::initializer_list<std::uint16_t>{443, 80, 53, 9}) {
    EXPECT_EQ(protocol_of_stream(kSomeHello, 40000, port), ApplicationProtocol::tls) << port;
    EXPECT_EQ(protocol_of_stream(kSomeRequest, 40000, port), ApplicationProtocol::http) << port;
    EXPECT_EQ(protocol_of_stream(Bytes(100), 40000, port), ApplicationProtocol::none) << port;
  }
}

TEST(ApplicationReader, DnsIsReadOnItsPortsAlone) {
  const Bytes stream = with_length16(kSomeQuery);
  EXPECT_EQ(protocol_of_stream(stream, 40000, 53), ApplicationProtocol::dns);
  EXPECT_EQ(protocol_of_stream(stream, 53, 40000), ApplicationProtocol::dns);
  EXPECT_EQ(protocol_of_stream(stream, 40000, 5355), ApplicationProtocol::dns);
  EXPECT_EQ(protocol_of_stream(stream, 40000, 54), ApplicationProtocol::none);
  for (const std::uint16_t port : std::initializer_list<std::uint16_t>{53, 5353, 5355}) {
    EXPECT_EQ(reading_of_datagram(kSomeQuery, 40000, port), Reading::done) << port;
    EXPECT_EQ(reading_of_datagram(kSomeQuery, port, 40000), Reading::done) << port;
  }
  EXPECT_EQ(reading_of_datagram(kSomeQuery, 40000, 443), Reading::unknown);
  Bytes two_questions = kSomeQuery;
  two_questions[5] = 2;
  EXPECT_EQ(reading_of_datagram(two_questions, 5353, 5353), Reading::done) << "mDNS";
  EXPECT_EQ(reading_of_datagram(two_questions, 40000, 53), Reading::unknown);
}

TEST(ApplicationReader, TooFewBytesNeedMoreIfTheyFit) {
  ApplicationReader reader;
  ApplicationFacts facts{};
  const auto reading_of = [&](const Bytes& stream, std::uint16_t port) {
    return reader.read_stream(stream, 1, port, facts);
  };
  EXPECT_EQ(reading_of({}, 9), Reading::needs_more);
  EXPECT_EQ(reading_of({22}, 9), Reading::needs_more);
  EXPECT_EQ(reading_of({21, 3}, 9), Reading::needs_more);
  EXPECT_EQ(reading_of({22, 3}, 9), Reading::needs_more);
  EXPECT_EQ(reading_of({'P'}, 9), Reading::needs_more);
  EXPECT_EQ(reading_of({'P', 'O'}, 9), Reading::needs_more);
  EXPECT_EQ(reading_of({'X'}, 9), Reading::unknown);
  EXPECT_EQ(reading_of({22, 9}, 9), Reading::unknown);
  EXPECT_EQ(reading_of({0}, 9), Reading::unknown);
  EXPECT_EQ(reading_of({0}, 53), Reading::needs_more);
  EXPECT_EQ(reading_of({0, 40}, 53), Reading::needs_more);
}

TEST(ApplicationReader, NothingOfAnotherFlowIsLeft) {
  ApplicationReader reader({.ja4 = true});
  ApplicationFacts facts{};
  ASSERT_EQ(reader.read_stream(kSomeHello, 1, 443, facts), Reading::done);
  EXPECT_EQ(facts.ja4.empty(), crypto_problem().has_value()) << "both need OpenSSL";
  ASSERT_EQ(reader.read_stream(kSomeRequest, 1, 80, facts), Reading::done);
  EXPECT_EQ(facts.http_host.view(), "b.example");
  EXPECT_TRUE(facts.server_name.empty() && facts.ja4.empty());
  EXPECT_EQ(reader.read_stream(Bytes(9), 1, 80, facts), Reading::unknown);
  EXPECT_EQ(facts, ApplicationFacts{});
}

TEST(ShortText, IsCutAtItsEnd) {
  ShortText<4> text;
  EXPECT_TRUE(text.empty());
  text.assign("abc");
  text.append("def");
  EXPECT_EQ(text.view(), "abcd");
  EXPECT_TRUE(text.full());
  text.append('x');
  EXPECT_EQ(text.view(), "abcd");
  text.assign("z");
  EXPECT_EQ(text.view(), "z");
  text.clear();
  EXPECT_EQ(text.view(), "");
  static_assert(sizeof(ShortText<255>) == 256);
}

}  // namespace
}  // namespace parshall::testing
