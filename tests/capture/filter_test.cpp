// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <netdb.h>

#include <cstring>
#include <limits>

#include "pipeline/capture/bpf_filter.hpp"
#include "pipeline/capture/filter_names.hpp"

namespace {

constexpr const char* kHost = "here.test";
int asked = 0;
int most_answers = 0;
const char* address = nullptr;

}  // namespace

/// In place of libc's: who knows names answers a few times, then no more.
extern "C" int getaddrinfo(const char* name, const char* service, const addrinfo* hints, addrinfo** found) {
  static const auto usual = reinterpret_cast<decltype(&getaddrinfo)>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  if (name == nullptr || std::strcmp(name, kHost) != 0) return usual(name, service, hints, found);
  return asked++ < most_answers ? usual(address, service, hints, found) : EAI_AGAIN;
}

namespace parshall {
namespace {

class Names : public ::testing::Test {
 protected:
  void SetUp() override {
    asked = 0;
    most_answers = std::numeric_limits<int>::max();
    address = "192.0.2.1";
  }
};

TEST_F(Names, AreAskedForOnceOfLinkTypesThatAreOneToLibpcap) {
  auto filter = BpfFilter::compile("host here.test");
  ASSERT_TRUE(filter);
  const int of_one = asked;
  ASSERT_GT(of_one, 0);
  constexpr LinkType kTypes[] = {LinkType::ethernet, LinkType::raw, LinkType::ipv4, LinkType::ipv6, LinkType::raw_12};
  EXPECT_FALSE(filter->compile_for(kTypes));
  EXPECT_EQ(asked, 2 * of_one);
}

TEST_F(Names, AreNotAskedForLater) {
  auto filter = BpfFilter::compile("not host here.test");
  ASSERT_TRUE(filter);
  constexpr LinkType kTypes[] = {LinkType::raw, LinkType::linux_sll};
  ASSERT_FALSE(filter->compile_for(kTypes));
  most_answers = 0;
  for (const LinkType type : kTypes) EXPECT_TRUE(filter->applies_to(type));
  EXPECT_FALSE(filter->applies_to(LinkType::linux_sll2));
}

TEST_F(Names, ThatAreFoundNoMoreAreAnError) {
  auto filter = BpfFilter::compile("not host here.test");
  ASSERT_TRUE(filter);
  most_answers = asked;
  const auto error = filter->compile_for({{LinkType::raw}});
  ASSERT_TRUE(error);
  EXPECT_NE(error->message.find("unknown host 'here.test'"), std::string::npos) << error->message;
}

TEST_F(Names, OfHostsGiveWayToAddresses) {
  for (const char* const expression :
       {"host here.test", "not (src here.test)", "tcp and (dst 192.0.2.7 or here.test or here.test)",
        "ip host here.test", "udp port 53 and not src or dst here.test"}) {
    asked = 0;
    most_answers = std::numeric_limits<int>::max();
    auto filter = BpfFilter::compile(expression);
    ASSERT_TRUE(filter) << expression;
    EXPECT_TRUE(filter->resolve_hosts()) << expression;
    most_answers = 0;
    EXPECT_TRUE(filter->applies_to(LinkType::raw)) << expression;
  }
}

TEST_F(Names, OfOthersDoNotGiveWay) {
  for (const char* const expression :
       {"port domain and host here.test", "ip proto \\tcp", "net 127 and port 80 or domain"}) {
    auto filter = BpfFilter::compile(expression);
    ASSERT_TRUE(filter) << expression;
    EXPECT_FALSE(filter->resolve_hosts()) << expression;
  }
}

TEST_F(Names, ThatMeanAnotherAddressBySecondThoughtDoNotGiveWay) {
  auto filter = BpfFilter::compile("host here.test");
  ASSERT_TRUE(filter);
  address = "192.0.2.2";
  EXPECT_FALSE(filter->resolve_hosts());
}

TEST(BpfFilter, AppliesToSomeLinkTypesAlone) {
  auto filter = BpfFilter::compile("ether host 02:00:00:00:00:01");
  ASSERT_TRUE(filter);
  EXPECT_FALSE(filter->compile_for({{LinkType::raw}}));
  EXPECT_FALSE(filter->applies_to(LinkType::raw));
  EXPECT_TRUE(filter->applies_to(LinkType::ethernet));
}

TEST(BpfFilter, AppliesToLinkTypesThatLibpcapHasOtherNumbersFor) {
  auto filter = BpfFilter::compile("udp");
  ASSERT_TRUE(filter);
  for (const LinkType type : {LinkType::raw, LinkType::raw_12, LinkType::raw_14, LinkType::atm_rfc1483})
    EXPECT_TRUE(filter->applies_to(type)) << static_cast<int>(type);
}

TEST(MayHaveNames, OfExpressionsWithNumbersAndKeywordsIsFalse) {
  for (const char* const expression :
       {"", "udp", "tcp port 80 and not (src net 10.1 or dst 192.0.2.1)", "net 192.0.2.0/24",
        "host 2001:db8::cafe or net fe80::/10 or host ::1", "ether host 0A:bb:cc:dd:ee:ff",
        "tcp[tcpflags] & (tcp-syn|tcp-fin) != 0", "ip[2:2] > 0x1F", "ether[0x0:4] = 0xcafe", "vlan 7 && ip6",
        "less 100||greater 1000"})
    EXPECT_FALSE(may_have_names(expression)) << expression;
}

TEST(MayHaveNames, OfAnyOtherWordIsTrue) {
  for (const char* const expression :
       {"host localhost", "src localhost", "not(localhost)", "tcp port http", "net loopback", "host cafe",
        "gateway a and udp", "udp or 3com.example", "host \\tcp", "1.2.3.4.5", "192.0.2.1.", "host tcp.example",
        "host 0xcafe.example", "ether host a-b", "host UDP", "udp||host b", "host cafe and host ::1"})
    EXPECT_TRUE(may_have_names(expression)) << expression;
}

}  // namespace
}  // namespace parshall
