// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "application_bytes.hpp"
#include "pipeline/decode/application/ja4.hpp"
#include "pipeline/decode/application/libcrypto.hpp"
#include "pipeline/decode/application/tls.hpp"

// In builds with OpenSSL.

namespace parshall::testing {
namespace {

enum class Over { tcp, quic };

std::string ja4_of(const HelloParts& parts, Over over = Over::tcp) {
  ApplicationFacts facts{};
  EXPECT_EQ(read_hello(ExactBytes(client_hello_bytes(parts)).span(), over == Over::quic, {.ja4 = true}, facts),
            Reading::done);
  return std::string(facts.ja4.view());
}

/// Extensions of these types, of which those that JA4 reads get what they need.
std::vector<Bytes> extensions_of(const std::vector<unsigned>& types, const std::vector<Bytes>& alpn,
                                 const std::vector<unsigned>& algorithms, const std::vector<unsigned>& versions) {
  std::vector<Bytes> extensions;
  for (const unsigned type : types)
    extensions.push_back(type == 0    ? server_name_extension("example.org")
                         : type == 13 ? algorithms_extension(algorithms)
                         : type == 16 ? alpn_extension(alpn)
                         : type == 43 ? versions_extension(versions)
                                      : extension(type, Bytes(type % 7)));
  return extensions;
}

/// Clients with JA4 values that others published: FoxIO (Chrome), nDPI's results for the captures named.
TEST(Ja4, PublishedValues) {
  const Bytes h2 = text_bytes("h2"), http1 = text_bytes("http/1.1");
  EXPECT_EQ(
      ja4_of({.ciphers = {0x0a0a, 0x1301, 0x1302, 0x1303, 0xc02b, 0xc02f, 0xc02c, 0xc030, 0xcca9, 0xcca8, 0xc013,
                          0xc014, 0x009c, 0x009d, 0x002f, 0x0035},
              .extensions = extensions_of({0xfafa, 0, 0x33, 0xd, 0x23, 0xb, 0xff01, 0xa, 0x1b, 0x4469, 0x12, 0x2d, 0x10,
                                           5, 0x2b, 0x17, 0x1a1a, 0x15},
                                          {h2, http1}, {0x0403, 0x0804, 0x0401, 0x0503, 0x0805, 0x0501, 0x0806, 0x0601},
                                          {0x0a0a, 0x0304, 0x0303})}),
      "t13d1516h2_8daaf6152771_e5627efa2ab1")
      << "Chrome";
  EXPECT_EQ(ja4_of({.ciphers = {0x1301, 0x1303, 0x1302, 0xc02b, 0xc02f, 0xcca9, 0xcca8, 0xc02c, 0xc030, 0xc00a, 0xc009,
                                0xc013, 0xc014, 0x0033, 0x0039, 0x002f, 0x0035, 0x000a},
                    .extensions = extensions_of(
                        {0, 23, 65281, 10, 11, 35, 16, 5, 51, 43, 13, 45, 28, 21}, {h2, http1},
                        {0x0403, 0x0503, 0x0603, 0x0804, 0x0805, 0x0806, 0x0401, 0x0501, 0x0601, 0x0203, 0x0201},
                        {0x0304, 0x0303, 0x0302, 0x0301})}),
            "t13d1814h2_29a2cd9e9f10_d267a5f792d4")
      << "443-firefox.pcap";
  EXPECT_EQ(
      ja4_of({.ciphers = {0x00ff, 0xc024, 0xc023, 0xc00a, 0xc009, 0xc008, 0xc028, 0xc027, 0xc014, 0xc013,
                          0xc012, 0xc026, 0xc025, 0xc005, 0xc004, 0xc003, 0xc02a, 0xc029, 0xc00f, 0xc00e,
                          0xc00d, 0x006b, 0x0067, 0x0039, 0x0033, 0x0016, 0x003d, 0x003c, 0x0035, 0x002f,
                          0x000a, 0xc007, 0xc011, 0xc002, 0xc00c, 0x0005, 0x0004},
              .extensions = extensions_of({0, 10, 11, 13, 13172}, {}, {0x0501, 0x0401, 0x0201, 0x0403, 0x0203}, {})}),
      "t12d370500_07a749158664_d075105c1994")
      << "whatsapp_login_call.pcap: without ALPN and supported_versions";
  EXPECT_EQ(ja4_of({.ciphers = {0x1301, 0x1302, 0x1303},
                    .extensions = extensions_of({51, 0, 16, 43, 13, 10, 57, 45, 42, 41}, {text_bytes("h3")},
                                                {0x0804, 0x0403, 0x0401, 0x0201}, {0x0304})},
                   Over::quic),
            "q13d0310h3_55b375c5d22e_0a3b52e28cea")
      << "quic-v2.pcapng";
}

std::string first_part(const HelloParts& parts) { return ja4_of(parts).substr(0, 10); }

TEST(Ja4, TheProtocolShowsItsFirstAndLastCharacter) {
  const auto shown = [](const Bytes& name) {
    return first_part({.extensions = {alpn_extension({name, text_bytes("h2")})}}).substr(8);
  };
  EXPECT_EQ(shown(text_bytes("http/1.1")), "h1");
  EXPECT_EQ(shown(text_bytes("h")), "hh");
  EXPECT_EQ(shown({0xab}), "ab");
  EXPECT_EQ(shown({0xab, 0xcd}), "ad");
  EXPECT_EQ(shown({0x30, 0xab}), "3b") << "one of the two is no text";
  EXPECT_EQ(shown({0x61, 0x2b}), "6b");
  EXPECT_EQ(shown({0x2b, 0x61}), "21");
  EXPECT_EQ(shown({0x30, 0x31, 0xab, 0xcd}), "3d");
  EXPECT_EQ(shown({0x30, 0xab, 0xcd, 0x31}), "01");
  EXPECT_EQ(shown({}), "00");
  EXPECT_EQ(first_part({}).substr(8), "00");
}

TEST(Ja4, VersionsHaveTwoCharacters) {
  const auto shown = [](unsigned legacy, const std::vector<Bytes>& extensions) {
    return first_part({.version = legacy, .extensions = extensions}).substr(1, 2);
  };
  EXPECT_EQ(shown(0x0300, {}), "s3");
  EXPECT_EQ(shown(0x0301, {}), "10");
  EXPECT_EQ(shown(0x0302, {}), "11");
  EXPECT_EQ(shown(0x0303, {}), "12");
  EXPECT_EQ(shown(0x0505, {}), "00");
  EXPECT_EQ(shown(0x0303, {versions_extension({0x0301, 0x0304, 0xdada})}), "13");
  EXPECT_EQ(shown(0x0303, {versions_extension({0x7f1c, 0x0304})}), "00") << "the highest one is a draft";
}

TEST(Ja4, CountsLeaveOutGreaseAndEndAt99) {
  std::vector<unsigned> many;
  for (unsigned i = 0; i < 120; ++i) many.push_back(i);
  EXPECT_EQ(first_part({.ciphers = many}), "t12i990000");
  many.resize(99);
  EXPECT_EQ(first_part({.ciphers = many}), "t12i990000");
  EXPECT_EQ(first_part({.ciphers = {0x1a1a, 7, 0xfafa, 0x1a2a, 0x1b1b}}), "t12i030000");
  EXPECT_EQ(first_part({.extensions = {extension(0, {}), extension(0x2a2a, {}), extension(9, {})}}), "t12d020200");
}

TEST(Ja4, EmptyListsHaveZerosForADigest) {
  EXPECT_EQ(ja4_of({.ciphers = {0x1a1a}}), "t12i000000_000000000000_000000000000");
  const std::string only_named = ja4_of({.extensions = {server_name_extension("a"), alpn_extension({{'x'}})}});
  EXPECT_TRUE(only_named.ends_with("_000000000000")) << only_named;
}

TEST(Ja4, OrderCountsForAlgorithmsAlone) {
  const HelloParts parts{.ciphers = {1, 2}, .extensions = {extension(9, {}), algorithms_extension({0x0403, 0x0804})}};
  HelloParts other = parts;
  other.ciphers = {2, 1};
  std::ranges::reverse(other.extensions);
  EXPECT_EQ(ja4_of(other), ja4_of(parts));
  other.extensions = {extension(9, {}), algorithms_extension({0x0804, 0x0403})};
  EXPECT_NE(ja4_of(other), ja4_of(parts));
  other.extensions = {extension(9, {}), algorithms_extension({0x0403, 0x2a2a, 0x0804})};
  EXPECT_EQ(ja4_of(other), ja4_of(parts)) << "GREASE is left out of them too";
}

TEST(Ja4, AHelloOfTooManyValuesHasNone) {
  std::vector<unsigned> many(1024, 5);
  EXPECT_NE(ja4_of({.ciphers = many}), "");
  many.push_back(5);
  EXPECT_EQ(ja4_of({.ciphers = many}), "");
  EXPECT_EQ(ja4_of({.extensions = std::vector<Bytes>(1025, extension(99, {}))}), "");
  EXPECT_FALSE(crypto_problem());
}

}  // namespace
}  // namespace parshall::testing
