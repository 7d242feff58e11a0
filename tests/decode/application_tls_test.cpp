// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "application_bytes.hpp"
#include "pipeline/decode/application/tls.hpp"

namespace parshall::testing {
namespace {

constexpr unsigned kGrease = 0x1a1a;

Reading tls_of(const Bytes& stream, ApplicationFacts& facts) { return read_tls(ExactBytes(stream).span(), {}, facts); }
/// Facts of a stream that is `done`.
ApplicationFacts tls_facts(const Bytes& stream) {
  ApplicationFacts facts{};
  EXPECT_EQ(tls_of(stream, facts), Reading::done);
  return facts;
}
Reading tls_reading(const Bytes& stream) {
  ApplicationFacts facts{};
  return tls_of(stream, facts);
}
Bytes hello_stream(const std::vector<Bytes>& extensions) {
  return tls_record(client_hello_bytes({.extensions = extensions}));
}
Bytes usual_hello() {
  return client_hello_bytes(
      {.extensions = {extension(kGrease, {}), server_name_extension("www.example.org"), extension(0xff01, {0}),
                      alpn_extension({text_bytes("h2"), text_bytes("http/1.1")}),
                      versions_extension({kGrease, 0x0304, 0x0303}), extension(51, Bytes(300, 9))}});
}
Bytes server_hello_bytes(unsigned version, const Bytes& extensions) {
  return join(
      {{2},
       with_length24(join({be16(version), Bytes(32, 1), with_length8(Bytes(32, 2)), be16(0x1301), {0}, extensions}))});
}

TEST(Tls, AClientHelloSaysNameProtocolsAndVersion) {
  const ApplicationFacts facts = tls_facts(tls_record(usual_hello()));
  EXPECT_EQ(facts.protocol, ApplicationProtocol::tls);
  EXPECT_EQ(facts.server_name.view(), "www.example.org");
  EXPECT_EQ(facts.alpn.view(), "h2,http/1.1");
  EXPECT_EQ(facts.tls_version, TlsVersion::tls_1_3);
  EXPECT_TRUE(facts.ja4.empty()) << "nobody wished for it";
}

TEST(Tls, CutAnywhereItNeedsMoreAndThenSaysTheSame) {
  for (const Bytes& stream :
       {tls_record(usual_hello()), tls_record(server_hello_bytes(0x0303, with_length16(extension(43, {3, 4}))))}) {
    const ApplicationFacts whole = tls_facts(stream);
    for (std::size_t size = 0; size < stream.size(); ++size) {
      ApplicationFacts facts{};
      EXPECT_EQ(read_tls(ExactBytes(stream, size).span(), {}, facts), Reading::needs_more) << size;
    }
    EXPECT_EQ(tls_facts(join({stream, {20, 3, 3, 0, 1, 1}})), whole) << "with more behind it";
  }
}

TEST(Tls, WhatPrecedesTheCutIsThereAlready) {
  const Bytes stream = tls_record(usual_hello());
  ApplicationFacts facts{};
  EXPECT_EQ(read_tls(ExactBytes(stream, stream.size() - 300).span(), {}, facts), Reading::needs_more);
  EXPECT_EQ(facts.server_name.view(), "www.example.org");
  EXPECT_EQ(facts.tls_version, TlsVersion::tls_1_3);
  EXPECT_EQ(read_tls(ExactBytes(stream, 100).span(), {}, facts), Reading::needs_more);
  EXPECT_EQ(facts.tls_version, TlsVersion::none) << "the legacy version is no version";
}

TEST(Tls, AMessageMayBeSplitOverRecordsAnywhere) {
  const Bytes hello = usual_hello();
  const ApplicationFacts whole = tls_facts(tls_record(hello));
  for (std::size_t first = 1; first < hello.size(); ++first) {
    const Bytes front(hello.begin(), hello.begin() + static_cast<std::ptrdiff_t>(first));
    const Bytes back(hello.begin() + static_cast<std::ptrdiff_t>(first), hello.end());
    const Bytes stream = join({tls_record(front), tls_record(back)});
    EXPECT_EQ(tls_facts(stream), whole) << first;
    for (const std::size_t cut : {1, 4, 5, 6}) {
      const std::size_t size = tls_record(front).size() + cut;
      if (size < stream.size()) {
        ApplicationFacts facts{};
        EXPECT_EQ(read_tls(ExactBytes(stream, size).span(), {}, facts), Reading::needs_more) << first << ", " << cut;
      }
    }
    EXPECT_EQ(tls_reading(join({tls_record(front), {21, 3, 3, 0, 2, 2, 40}})), Reading::unknown)
        << "an alert: " << first;
  }
  Bytes bytewise;
  for (const std::uint8_t byte : hello) bytewise = join({bytewise, tls_record({byte})});
  EXPECT_EQ(tls_facts(bytewise), whole);
}

TEST(Tls, OtherFirstBytesAreUnknown) {
  for (const Bytes& stream : {Bytes{23}, Bytes{22, 2}, Bytes{22, 3, 9}, Bytes{22, 3, 1, 0, 0}, Bytes{22, 3, 1, 0x41, 1},
                              Bytes{22, 3, 1, 0, 9, 11}, text_bytes("GET / HTTP/1.1\r\n"), Bytes{0x80, 0x2e, 1, 0, 2}})
    EXPECT_EQ(tls_reading(stream), Reading::unknown);
  EXPECT_EQ(tls_reading({22, 3, 1, 0x41, 0}), Reading::needs_more) << "the longest record";
}

TEST(Tls, AHelloOf16KilobytesIsReadAndALongerOneIsNot) {
  const auto hello_of = [](std::size_t bytes) {
    const std::size_t others =
        client_hello_bytes({.extensions = {server_name_extension("a"), extension(21, {})}}).size();
    return client_hello_bytes({.extensions = {server_name_extension("a"), extension(21, Bytes(bytes - others))}});
  };
  const auto records_of = [](const Bytes& hello) {
    const auto half = hello.begin() + 8000;
    return join({tls_record(Bytes(hello.begin(), half)), tls_record(Bytes(half, hello.end()))});
  };
  ASSERT_EQ(hello_of(kMostHelloBytes).size(), kMostHelloBytes);
  EXPECT_EQ(tls_facts(tls_record(hello_of(kMostHelloBytes))).server_name.view(), "a");
  EXPECT_EQ(tls_facts(records_of(hello_of(kMostHelloBytes))).server_name.view(), "a");
  EXPECT_EQ(tls_reading(tls_record(hello_of(kMostHelloBytes + 1))), Reading::unknown);
  EXPECT_EQ(tls_reading(records_of(hello_of(kMostHelloBytes + 1))), Reading::unknown);
  const Bytes stream = records_of(hello_of(kMostHelloBytes));
  ApplicationFacts facts{};
  EXPECT_EQ(read_tls(ExactBytes(stream, kMostHelloBytes - 1).span(), {}, facts), Reading::needs_more);
  EXPECT_EQ(read_tls(ExactBytes(stream, kMostHelloBytes).span(), {}, facts), Reading::unknown)
      << "nobody keeps more of a stream";
}

TEST(Tls, VersionsAreTheHighestKnownElseTheLegacyOne) {
  const auto version_of_list = [](std::vector<unsigned> versions) {
    return tls_facts(hello_stream({versions_extension(versions)})).tls_version;
  };
  EXPECT_EQ(version_of_list({0x0301, 0x0302}), TlsVersion::tls_1_1);
  EXPECT_EQ(version_of_list({0x0302, 0x0301, 0xfafa, kGrease}), TlsVersion::tls_1_1);
  EXPECT_EQ(version_of_list({0x0304, 0x0399}), TlsVersion::tls_1_3) << "others are left out";
  EXPECT_EQ(version_of_list({0x7f1c}), TlsVersion::tls_1_3) << "a draft";
  EXPECT_EQ(version_of_list({0x9999}), TlsVersion::none) << "the legacy one says nothing then";
  EXPECT_EQ(version_of_list({}), TlsVersion::tls_1_2);
  constexpr std::pair<unsigned, TlsVersion> kLegacy[] = {{0x0300, TlsVersion::ssl_3_0}, {0x0301, TlsVersion::tls_1_0},
                                                         {0x0302, TlsVersion::tls_1_1}, {0x0303, TlsVersion::tls_1_2},
                                                         {0x02ff, TlsVersion::none},    {0x0305, TlsVersion::none}};
  for (const auto& [number, version] : kLegacy)
    EXPECT_EQ(tls_facts(tls_record(client_hello_bytes({.version = number}))).tls_version, version) << number;
  EXPECT_EQ(kTlsVersionNames[static_cast<std::size_t>(TlsVersion::tls_1_3)], "TLS 1.3");
}

TEST(Tls, AServerHelloSaysTheChosenVersionAndProtocol) {
  const auto of = [](unsigned legacy, const Bytes& extensions) {
    return tls_facts(tls_record(server_hello_bytes(legacy, extensions)));
  };
  EXPECT_EQ(of(0x0303, {}).tls_version, TlsVersion::tls_1_2);
  EXPECT_EQ(of(0x0301, {}).tls_version, TlsVersion::tls_1_0);
  const ApplicationFacts facts =
      of(0x0303, with_length16(join({extension(0, {}), alpn_extension({text_bytes("h2")}), extension(43, {3, 4})})));
  EXPECT_EQ(facts.tls_version, TlsVersion::tls_1_3);
  EXPECT_EQ(facts.alpn.view(), "h2");
  EXPECT_TRUE(facts.server_name.empty());
}

TEST(Tls, WarningsMayPrecedeAHello) {
  const Bytes warning = {21, 3, 3, 0, 2, 1, 112}, hello = tls_record(server_hello_bytes(0x0303, {}));
  EXPECT_EQ(tls_facts(join({warning, hello})).tls_version, TlsVersion::tls_1_2);
  EXPECT_EQ(tls_facts(join({warning, warning, hello})).tls_version, TlsVersion::tls_1_2);
  EXPECT_EQ(tls_reading(join({warning, warning, warning, hello})), Reading::unknown);
  for (std::size_t size = 0; size <= warning.size(); ++size)
    EXPECT_EQ(tls_reading(Bytes(warning.begin(), warning.begin() + static_cast<std::ptrdiff_t>(size))),
              Reading::needs_more);
  for (const Bytes& stream : {Bytes{21, 2}, Bytes{21, 3, 3, 0, 3}, Bytes{21, 3, 3, 0, 2, 2, 40}})
    EXPECT_EQ(tls_reading(stream), Reading::unknown) << "no warning";
}

TEST(Tls, AMessageWithoutExtensionsIsOne) {
  const Bytes body = join({be16(0x0300), Bytes(32), {0}, with_length16(numbers16({5})), {1, 0}});
  EXPECT_EQ(tls_facts(tls_record(join({{1}, with_length24(body)}))).tls_version, TlsVersion::ssl_3_0);
}

TEST(Tls, NamesAreTakenAsTheyAre) {
  const auto name_of = [](const Bytes& content) {
    return std::string(tls_facts(hello_stream({extension(0, content)})).server_name.view());
  };
  const std::string odd("a\0b\xff|\n", 6);
  EXPECT_EQ(name_of(with_length16(join({{0}, with_length16(text_bytes(odd))}))), odd);
  EXPECT_EQ(name_of({}), "") << "as a server answers";
  EXPECT_EQ(name_of(with_length16({})), "");
  EXPECT_EQ(name_of(with_length16(join({{9}, with_length16(text_bytes("x")), {0}, with_length16(text_bytes("y"))}))),
            "y")
      << "of the kind host name";
  EXPECT_EQ(name_of(with_length16(join({{0}, with_length16(text_bytes("x")), {0}, with_length16(text_bytes("y"))}))),
            "x");
  const std::string longest(300, 'n');
  EXPECT_EQ(name_of(with_length16(join({{0}, with_length16(text_bytes(longest))}))), std::string(255, 'n'));
}

TEST(Tls, TheFirstOfTwoExtensionsCounts) {
  const ApplicationFacts facts =
      tls_facts(hello_stream({server_name_extension("a"), alpn_extension({{'x'}}), versions_extension({0x0302}),
                              server_name_extension("b"), alpn_extension({{'y'}}), versions_extension({0x0304})}));
  EXPECT_EQ(facts.server_name.view(), "a");
  EXPECT_EQ(facts.alpn.view(), "x");
  EXPECT_EQ(facts.tls_version, TlsVersion::tls_1_1);
}

TEST(Tls, LongProtocolListsAreCut) {
  const ApplicationFacts facts = tls_facts(hello_stream({alpn_extension({Bytes(120, 'a'), Bytes(60, 'b')})}));
  EXPECT_EQ(facts.alpn.view(), std::string(120, 'a') + ",bbbbbb");
  EXPECT_EQ(tls_facts(hello_stream({alpn_extension({Bytes(130, 'a'), Bytes(60, 'b')})})).alpn.view(),
            std::string(127, 'a'));
}

TEST(Tls, LengthsThatContradictMakeItUnknownUnlessTheNameWasRead) {
  const Bytes too_long = join({be16(99), be16(5), {1, 2}});  // an extension that goes beyond the list
  EXPECT_EQ(tls_reading(hello_stream({too_long, server_name_extension("a")})), Reading::unknown);
  EXPECT_EQ(tls_facts(hello_stream({server_name_extension("a"), too_long})).server_name.view(), "a");
  for (const Bytes& content : {Bytes{0, 9}, Bytes{0, 3, 0, 0, 9}, Bytes{5}})
    EXPECT_EQ(tls_reading(hello_stream({extension(0, content)})), Reading::unknown);
  for (const Bytes& content : {Bytes{0, 9}, Bytes{0, 1, 2}, Bytes{5}, Bytes{}})
    EXPECT_EQ(tls_reading(hello_stream({extension(16, content)})), Reading::unknown);
  EXPECT_EQ(tls_reading(hello_stream({extension(43, {9, 3, 4})})), Reading::unknown);
  EXPECT_EQ(tls_reading(hello_stream({extension(13, {0, 9})})), Reading::unknown);

  Bytes behind = usual_hello();  // bytes behind the extensions, in the message
  behind.push_back(0);
  behind[3] = static_cast<std::uint8_t>(behind[3] + 1);
  EXPECT_EQ(tls_facts(tls_record(behind)).server_name.view(), "www.example.org");
  Bytes nameless = client_hello_bytes({});
  nameless.push_back(0);
  nameless[3] = static_cast<std::uint8_t>(nameless[3] + 1);
  EXPECT_EQ(tls_reading(tls_record(nameless)), Reading::unknown);
  for (const std::size_t bytes : {0, 1, 33, 34, 35, 70})
    EXPECT_EQ(tls_reading(tls_record(join({{1}, with_length24(Bytes(bytes, 200))}))), Reading::unknown) << bytes;
  EXPECT_EQ(tls_reading(tls_record(server_hello_bytes(0x0303, with_length16(extension(43, {3}))))), Reading::unknown);
}

TEST(Tls, OverQuicOnlyAClientHelloIsRead) {
  ApplicationFacts facts{};
  EXPECT_EQ(read_hello(ExactBytes(usual_hello()).span(), true, {}, facts), Reading::done);
  EXPECT_EQ(facts.protocol, ApplicationProtocol::quic);
  EXPECT_EQ(read_hello(ExactBytes(server_hello_bytes(0x0303, {})).span(), true, {}, facts), Reading::unknown);
  EXPECT_EQ(read_hello({}, true, {}, facts), Reading::needs_more);
}

TEST(Tls, ChangedBytesDoNoHarm) {
  const Bytes hello = usual_hello();
  const auto half = hello.begin() + 90;
  for (const Bytes& stream :
       {tls_record(hello), join({tls_record(Bytes(hello.begin(), half)), tls_record(Bytes(half, hello.end()))})})
    for_mutations(stream, 20'000, [](std::span<const std::uint8_t> bytes) {
      ApplicationFacts facts{};
      const Reading reading = read_tls(bytes, {.ja4 = true}, facts);
      if (reading == Reading::unknown) {
        EXPECT_EQ(facts, ApplicationFacts{});
      }
    });
}

}  // namespace
}  // namespace parshall::testing
