// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "application_bytes.hpp"
#include "pipeline/decode/application/http.hpp"

namespace parshall::testing {
namespace {

Reading http_of(std::string_view stream, ApplicationFacts& facts) {
  return read_http(ExactBytes(text_bytes(stream)).span(), facts);
}
ApplicationFacts http_facts(std::string_view stream) {
  ApplicationFacts facts{};
  EXPECT_EQ(http_of(stream, facts), Reading::done) << stream.substr(0, 100);
  return facts;
}
Reading http_reading(std::string_view stream) {
  ApplicationFacts facts{};
  return http_of(stream, facts);
}

TEST(Http, ARequestSaysHostAndUserAgent) {
  const ApplicationFacts facts = http_facts(
      "GET /a?b=c HTTP/1.1\r\nAccept: */*\r\nHost: example.org:8080\r\nUser-Agent: curl/7.88 (x; y)\r\n\r\n");
  EXPECT_EQ(facts.protocol, ApplicationProtocol::http);
  EXPECT_EQ(facts.http_host.view(), "example.org:8080");
  EXPECT_EQ(facts.http_user_agent.view(), "curl/7.88 (x; y)");
}

TEST(Http, CutAnywhereItNeedsMoreAndThenSaysTheSame) {
  for (const std::string_view stream :
       {"GET / HTTP/1.1\r\nHost: a\r\nX: y\r\nUser-Agent: b\r\n", "PROPFIND /x HTTP/1.0\nHost: a\n\n",
        "OPTIONS * HTTP/1.1\r\n\r\n", "CONNECT a.b:443 HTTP/1.1\r\nUser-Agent: c\r\n\r\n"}) {
    const ApplicationFacts whole = http_facts(stream);
    for (std::size_t size = 0; size < stream.size(); ++size)
      EXPECT_EQ(http_reading(stream.substr(0, size)), Reading::needs_more) << stream.substr(0, size);
    EXPECT_EQ(http_facts(std::string(stream) + "more\r\nHost: z\r\n\r\n"), whole);
  }
}

TEST(Http, FieldsAreFoundByTheirNameInAnyCase) {
  const auto host_of = [](std::string_view fields) {
    return std::string(http_facts("GET / HTTP/1.1\r\n" + std::string(fields) + "\r\n\r\n").http_host.view());
  };
  EXPECT_EQ(host_of("hOsT: a"), "a");
  EXPECT_EQ(host_of("Host:a"), "a");
  EXPECT_EQ(host_of("Host: \t a \t"), "a") << "blanks around it";
  EXPECT_EQ(host_of("Host: a\r\nHost: b"), "a") << "the first counts";
  EXPECT_EQ(host_of("Host:\r\nHost: b"), "");
  EXPECT_EQ(host_of("X-Host: b\r\nHosts: c\r\nHost : d\r\nHost"), "") << "others are others";
  EXPECT_EQ(host_of("no field\r\n folded\r\nHost: a"), "a");
  EXPECT_EQ(host_of("Host: a\xff\x01"), "a\xff\x01") << "bytes as they are";
  EXPECT_EQ(http_facts("GET / HTTP/1.1\nhost: a\nuser-agent: b\n\n").http_user_agent.view(), "b") << "without CR";
  EXPECT_EQ(http_facts("GET / HTTP/1.1\r\n\r\nHost: a\r\n\r\n").http_host.view(), "") << "behind the head";
}

TEST(Http, LongValuesAreCut) {
  const ApplicationFacts facts = http_facts("GET / HTTP/1.1\r\nUser-Agent: " + std::string(300, 'u') +
                                            "\r\nHost: " + std::string(256, 'h') + "\r\n\r\n");
  EXPECT_EQ(facts.http_user_agent.view(), std::string(255, 'u'));
  EXPECT_EQ(facts.http_host.view(), std::string(255, 'h'));
}

TEST(Http, ConnectNamesItsTargetUnlessThereIsAHost) {
  EXPECT_EQ(http_facts("CONNECT a.b:443 HTTP/1.1\r\n\r\n").http_host.view(), "a.b:443");
  EXPECT_EQ(http_facts("CONNECT a.b:443 HTTP/1.1\r\nHost: c\r\n\r\n").http_host.view(), "c");
  EXPECT_EQ(http_facts("GET a.b:443 HTTP/1.1\r\n\r\n").http_host.view(), "");
}

TEST(Http, MethodsAreOfTheRegistry) {
  for (const std::string method : {"GET",
                                   "POST",
                                   "HEAD",
                                   "PUT",
                                   "DELETE",
                                   "CONNECT",
                                   "OPTIONS",
                                   "TRACE",
                                   "PATCH",
                                   "PROPFIND",
                                   "PROPPATCH",
                                   "MKCOL",
                                   "COPY",
                                   "MOVE",
                                   "LOCK",
                                   "UNLOCK",
                                   "REPORT",
                                   "SEARCH",
                                   "MKCALENDAR",
                                   "UPDATEREDIRECTREF",
                                   "VERSION-CONTROL",
                                   "M-SEARCH"})
    EXPECT_EQ(http_reading(method + " / HTTP/1.1\r\n\r\n"), Reading::done) << method;
  for (const std::string method : {"GETS", "get", "GE", "", "HELLO", "PRI", "ACLX", "UPDATEREDIRECTREFX"})
    EXPECT_EQ(http_reading(method + " / HTTP/1.1\r\n\r\n"), Reading::unknown) << method;
}

TEST(Http, OtherFirstBytesAreUnknown) {
  for (const std::string_view stream :
       {"HTTP/1.1 200 OK\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "GET / HTTP/2.0\r\n\r\n", "GET /\r\n",
        "GET / \r\n", "GET  HTTP/1.1\r\n\r\n", "GET / HTTP/1.x\r\n\r\n", "GET / HTTP/1.\n", "GET / HTTP/1.1\rx",
        "GET /\x01 HTTP/1.1\r\n", "GET /\x7f", "\x16\x03\x01", "EHLO a\r\n", "SSH-2.0-x\r\n", "G\n"})
    EXPECT_EQ(http_reading(stream), Reading::unknown) << stream;
}

TEST(Http, CarelessFirstLinesAreReadAllTheSame) {
  EXPECT_EQ(http_facts("GET    /a HTTP/1.1\r\nHost: a\r\n\r\n").http_host.view(), "a");
  EXPECT_EQ(http_facts("GET /x;cat /etc/passwd|?y HTTP/1.1\nHost: a\n\n").http_host.view(), "a");
  EXPECT_EQ(http_facts("GET /\xff HTTP/1.0.8 \r\nHost: a\r\n\r\n").http_host.view(), "a");
  EXPECT_EQ(http_facts("CONNECT  a:1  HTTP/1.1\r\n\r\n").http_host.view(), "a:1");
}

TEST(Http, Behind8KilobytesWhatWasFoundCounts) {
  std::string stream = "GET / HTTP/1.1\r\nHost: a\r\n";
  while (stream.size() < kMostHttpHeadBytes - 2) stream += "X: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n";
  stream.resize(kMostHttpHeadBytes - 1, 'x');
  EXPECT_EQ(http_reading(stream), Reading::needs_more);
  EXPECT_EQ(http_facts(stream + 'x').http_host.view(), "a");
  EXPECT_EQ(http_facts(stream + "x\r\nUser-Agent: z\r\n\r\n").http_user_agent.view(), "") << "nothing behind them";
  std::string line = "GET /" + std::string(kMostHttpHeadBytes, 'x');
  EXPECT_EQ(http_reading(line.substr(0, kMostHttpHeadBytes - 1)), Reading::needs_more);
  EXPECT_EQ(http_reading(line), Reading::unknown) << "a first line without end";
}

TEST(Http, ChangedBytesDoNoHarm) {
  for_mutations(text_bytes("GET /a HTTP/1.1\r\nHost: a.b\r\nX:\r\nUser-Agent: c d\r\n\r\n"), 20'000,
                [](std::span<const std::uint8_t> bytes) {
                  ApplicationFacts facts{};
                  if (read_http(bytes, facts) == Reading::unknown) {
                    EXPECT_EQ(facts, ApplicationFacts{});
                  }
                });
}

}  // namespace
}  // namespace parshall::testing
