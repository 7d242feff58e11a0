// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "application_bytes.hpp"
#include "base/mapped_address.hpp"
#include "pipeline/decode/application/dns_addresses.hpp"

namespace parshall::testing {
namespace {

constexpr unsigned kAnswer = 0x8180;
constexpr unsigned kA = 1, kAaaa = 28, kCname = 5;
const Bytes kAsked = {3, 'W', 'w', 'w', 7, 'e', 'x', 'a', 'm', 'p', 'l', 'e', 3, 'n', 'e', 't', 0};
const Bytes kToAsked = {0xc0, 12};  // a pointer to the name in the question

Bytes record(const Bytes& name, unsigned type, const Bytes& content, unsigned name_class = 1) {
  return join({name, be16(type), be16(name_class), {0, 0, 0, 60}, with_length16(content)});
}
Bytes answer(unsigned answers, const Bytes& records, unsigned flags = kAnswer, unsigned others = 0) {
  return join({{0, 7}, be16(flags), be16(1), be16(answers), {0, 0}, be16(others), kAsked, be16(1), be16(1), records});
}
/// Names and IPv4 addresses' last bytes (IPv6: all of it is in the name of the test) as "name=last".
std::vector<std::string> found_in(const Bytes& message, DnsKind kind = DnsKind::unicast) {
  std::array<DnsAddress, kMostDnsAddresses> found;
  const ExactBytes exact(message);
  const std::size_t count = read_dns_addresses(exact.span(), kind, found);
  std::vector<std::string> all;
  for (std::size_t i = 0; i < count; ++i)
    all.push_back(std::string(found[i].name.view()) + "=" + std::to_string(found[i].address[15]));
  return all;
}
using Texts = std::vector<std::string>;

TEST(DnsAddresses, HaveTheNameThatWasAskedForBehindAliases) {
  const Bytes alias = {4, 'e', 'd', 'g', 'e', 3, 'c', 'd', 'n', 0};
  const Bytes records = join({record(kToAsked, kCname, alias), record(alias, kA, {192, 0, 2, 7}),
                              record(alias, kAaaa, Bytes(16, 9)), record(kToAsked, kA, {192, 0, 2, 8})});
  EXPECT_EQ(found_in(answer(4, records)), (Texts{"www.example.net=7", "www.example.net=9", "www.example.net=8"}));
  std::array<DnsAddress, kMostDnsAddresses> found;
  EXPECT_EQ(read_dns_addresses(answer(4, records), DnsKind::unicast, found), 3U);
  EXPECT_EQ(found[0].address, mapped(Bytes{192, 0, 2, 7}));
  EXPECT_EQ(found[1].address, mapped(Bytes(16, 9)));
}

TEST(DnsAddresses, AreOfAnswersWithoutError) {
  const Bytes records = record(kToAsked, kA, {192, 0, 2, 7});
  EXPECT_EQ(found_in(answer(1, records)).size(), 1U);
  EXPECT_EQ(found_in(answer(1, records, 0x0100)), Texts{});       // a question
  EXPECT_EQ(found_in(answer(1, records, kAnswer | 3)), Texts{});  // NXDOMAIN
  EXPECT_EQ(found_in(answer(0, records, kAnswer, 1)), Texts{});   // beside the answers
  EXPECT_EQ(found_in(answer(1, record(kToAsked, kA, {192, 0, 2}))), Texts{});
  EXPECT_EQ(found_in(answer(1, record(kToAsked, kAaaa, {192, 0, 2, 7}))), Texts{});
  EXPECT_EQ(found_in(answer(1, record(kToAsked, kA, {192, 0, 2, 7}, 3))), Texts{});  // the class CHAOS
}

TEST(DnsAddresses, OfNoOtherHostAreLeftOut) {
  Bytes last(16);
  last.back() = 1;
  for (const Bytes& address : {Bytes{0, 0, 0, 0}, Bytes{127, 0, 0, 1}, Bytes{127, 9, 9, 9}, Bytes(16), last})
    EXPECT_EQ(found_in(answer(1, record(kToAsked, address.size() == 4 ? kA : kAaaa, address))), Texts{});
  EXPECT_EQ(found_in(answer(1, record(kToAsked, kA, {128, 0, 0, 1}))).size(), 1U);
}

TEST(DnsAddresses, OfMdnsHaveTheirOwnNamesAlsoBesideTheAnswers) {
  const Bytes host = {4, 'h', 'o', 's', 't', 5, 'l', 'o', 'c', 'a', 'l', 0};
  const Bytes service = {5, '_', 'h', 't', 't', 'p', 5, 'l', 'o', 'c', 'a', 'l', 0};
  const Bytes first = record(service, 12, host);
  const auto host_at = static_cast<std::uint8_t>(12 + first.size() - host.size());
  const Bytes message = join({{0, 0, 0x84, 0, 0, 0, 0, 1, 0, 0, 0, 2},
                              first,
                              record({0xc0, host_at}, kA, {10, 0, 0, 5}, 0x8001),
                              record({2, 'b', '2', 0xc0, static_cast<std::uint8_t>(host_at + 5)}, kA, {10, 0, 0, 6})});
  EXPECT_EQ(found_in(message, DnsKind::multicast), (Texts{"host.local=5", "b2.local=6"}));
}

TEST(DnsAddresses, OfMdnsWithPointersThatGoRoundOrForwardAreLeftOut) {
  for (const Bytes& name : {Bytes{0xc0, 12}, Bytes{0xc0, 200}, Bytes{1, 'a', 0xc0, 12}, Bytes{0xff, 0xff}}) {
    const Bytes message =
        join({{0, 0, 0x84, 0, 0, 0, 0, 2, 0, 0, 0, 0}, record({1, 'x', 0}, 12, {0}), record(name, kA, {10, 0, 0, 5})});
    const Texts found = found_in(message, DnsKind::multicast);
    if (name[0] == 1)
      EXPECT_EQ(found, Texts{"a.x=5"});
    else if (name[1] == 12)
      EXPECT_EQ(found, Texts{"x=5"});
    else
      EXPECT_EQ(found, Texts{});
  }
  // A name that points to its own label.
  const Bytes message = join({{0, 0, 0x84, 0, 0, 0, 0, 2, 0, 0, 0, 0},
                              record({1, 'x', 0}, 12, {0}),
                              record({1, 'a', 0xc0, 27}, kA, {10, 0, 0, 5})});
  EXPECT_EQ(found_in(message, DnsKind::multicast), Texts{});
}

TEST(DnsAddresses, OfACutOrLongMessageAreThoseBeforeItsEnd) {
  Bytes records;
  for (std::uint8_t i = 0; i < 40; ++i) records = join({records, record(kToAsked, kA, {192, 0, 2, i})});
  EXPECT_EQ(found_in(answer(40, records)).size(), kMostDnsAddresses);
  const Bytes whole = answer(2, join({record(kToAsked, kA, {192, 0, 2, 1}), record(kToAsked, kA, {192, 0, 2, 2})}));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Texts found = found_in(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
    EXPECT_EQ(found.size(), size + 16 < whole.size() ? 0U : 1U) << size;
  }
}

}  // namespace
}  // namespace parshall::testing
