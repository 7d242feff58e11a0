// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <netdb.h>
#include <pcap/pcap.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>

#include "capture_bytes.hpp"
#include "delivery.hpp"
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

/// Of one byte.
RawPacket packet_of(LinkType type) {
  static constexpr std::uint8_t kByte = 0;
  return {.data = &kByte, .captured_bytes = 1, .wire_bytes = 1, .link_type = type};
}

TEST(BpfFilter, SaysWhyItAppliesToNoneOfSomeLinkTypes) {
  auto filter = BpfFilter::compile("tcp or vlan");
  ASSERT_TRUE(filter);
  EXPECT_FALSE(filter->refused_by({}));
  EXPECT_FALSE(filter->refused_by({{LinkType::null, LinkType::ethernet}}));
  const auto error = filter->refused_by({{LinkType::null}});
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message,
            "the filter \"tcp or vlan\" does not apply to packets of BSD loopback: no VLAN support for BSD loopback");
}

TEST(BpfFilter, CountsWhatItLeavesOutOfLinkTypesThatItDoesNotApplyTo) {
  auto filter = BpfFilter::compile("vlan");
  ASSERT_TRUE(filter);
  auto copy = *filter;
  filter->matches(packet_of(LinkType::ethernet));
  EXPECT_TRUE(filter->left_out(1).empty());
  for (BpfFilter* const each : {&*filter, &copy})
    for (int i = 0; i < 3; ++i) {
      EXPECT_FALSE(each->matches(packet_of(LinkType::null)));
      EXPECT_FALSE(each->matches(packet_of(LinkType::ipv4)));
      EXPECT_FALSE(each->matches(packet_of(LinkType::raw)));
    }
  const std::vector<Error> left_out = copy.left_out(2);
  ASSERT_EQ(left_out.size(), 2u);
  EXPECT_TRUE(left_out[0].message.ends_with("no VLAN support for BSD loopback; packets left out: 3"))
      << left_out[0].message;
  EXPECT_TRUE(left_out[1].message.ends_with("; packets left out: 6")) << left_out[1].message;
}

TEST(BpfFilter, NeedNotApplyToEthernet) {
  auto filter = BpfFilter::compile("type data");
  ASSERT_TRUE(filter);
  EXPECT_TRUE(filter->applies_to(LinkType::ieee802_11_radiotap));
  EXPECT_TRUE(filter->refused_by({{LinkType::ethernet}}));
  EXPECT_FALSE(BpfFilter::compile("type data and vpi 3"));
}

TEST_F(Names, OfFiltersThatDoNotApplyToEthernetGiveWayToAddresses) {
  auto filter = BpfFilter::compile("inbound and host here.test");
  ASSERT_TRUE(filter);
  EXPECT_TRUE(filter->resolve_hosts());
  most_answers = 0;
  EXPECT_TRUE(filter->applies_to(LinkType::linux_sll2));
}

TEST(BpfFilter, AsksForDirectionsOnlyOfLinkTypesThatHaveThem) {
  auto filter = BpfFilter::compile("inbound");
  ASSERT_TRUE(filter);
  EXPECT_TRUE(filter->applies_to(LinkType::linux_sll));
  const auto error = filter->refused_by({{LinkType::ethernet}});
  ASSERT_TRUE(error);
  EXPECT_NE(error->message.find("inbound/outbound not supported on Ethernet"), std::string::npos) << error->message;
}

TEST(BpfFilter, AppliesToLinkTypesThatLibpcapHasOtherNumbersFor) {
  auto filter = BpfFilter::compile("udp");
  ASSERT_TRUE(filter);
  for (const LinkType type : {LinkType::raw, LinkType::raw_12, LinkType::raw_14, LinkType::atm_rfc1483})
    EXPECT_TRUE(filter->applies_to(type)) << static_cast<int>(type);
}

/// Of the packets of a capture: which of them libpcap passes, reading it itself.
std::vector<bool> passed_by_libpcap(testing::Bytes capture, const char* expression) {
  std::array<char, PCAP_ERRBUF_SIZE> problem;
  const std::unique_ptr<pcap_t, decltype(&pcap_close)> reader(
      pcap_fopen_offline(::fmemopen(capture.data(), capture.size(), "rb"), problem.data()), pcap_close);
  bpf_program program{};
  EXPECT_EQ(pcap_compile(reader.get(), &program, expression, 1, PCAP_NETMASK_UNKNOWN), 0) << pcap_geterr(reader.get());
  std::vector<bool> passed;
  pcap_pkthdr* header;
  const u_char* data;
  while (pcap_next_ex(reader.get(), &header, &data) == 1)
    passed.push_back(pcap_offline_filter(&program, header, data) != 0);
  pcap_freecode(&program);
  return passed;
}

std::vector<bool> passed_by_us(const testing::Bytes& capture, const char* expression) {
  auto filter = BpfFilter::compile(expression);
  EXPECT_TRUE(filter) << expression;
  std::vector<bool> passed;
  for (const testing::Delivered& packet : testing::read_as_file(capture).packets)
    passed.push_back(filter->matches({.data = packet.captured.data(),
                                      .captured_bytes = static_cast<std::uint32_t>(packet.captured.size()),
                                      .wire_bytes = packet.wire_bytes,
                                      .link_type = packet.link_type}));
  return passed;
}

/// An IPv4 packet of UDP, an IPv6 packet of UDP, and what is neither, as macOS captures them in that byte order.
testing::Bytes loopback_capture(testing::Order order) {
  using testing::operator+=;
  constexpr std::uint32_t kIpv4 = AF_INET, kIpv6 = 30, kAppleTalk = 16;
  testing::Bytes ipv4(28), ipv6(48);
  ipv4[0] = 0x45, ipv4[3] = 28, ipv4[9] = IPPROTO_UDP;
  ipv6[0] = 0x60, ipv6[5] = 8, ipv6[6] = IPPROTO_UDP;
  const testing::PcapFile file{.order = order, .network = 0};
  testing::Bytes capture = file.header();
  capture += file.record(1, testing::Writer(order).put(kIpv4).put(ipv4).bytes);
  capture += file.record(2, testing::Writer(order).put(kIpv6).put(ipv6).bytes);
  capture += file.record(3, testing::Writer(order).put(kAppleTalk).put(ipv4).bytes);
  return capture;
}

TEST(BpfFilter, PassesOfLoopbackWhatLibpcapPassesInBothByteOrders) {
  for (const auto order : {testing::Order::little, testing::Order::big}) {
    const testing::Bytes capture = loopback_capture(order);
    EXPECT_EQ(passed_by_us(capture, "ip or ip6"), (std::vector{true, true, false}));
    for (const char* const expression : {"ip", "ip6", "udp", "ip or ip6", "not ip", "len > 40", "link[0] = 0"})
      EXPECT_EQ(passed_by_us(capture, expression), passed_by_libpcap(capture, expression))
          << expression << (order == testing::Order::big ? ", big" : ", little");
  }
}

TEST_F(Names, OfLoopbackAreNotAskedForLaterInEitherByteOrder) {
  auto filter = BpfFilter::compile("host here.test");
  ASSERT_TRUE(filter);
  ASSERT_FALSE(filter->compile_for({{LinkType::null}}));
  asked = 0;
  for (const auto order : {testing::Order::little, testing::Order::big}) {
    const testing::Bytes head = testing::Writer(order).put(std::uint32_t{AF_INET}).bytes;
    filter->matches({.data = head.data(), .captured_bytes = 4, .wire_bytes = 4, .link_type = LinkType::null});
  }
  EXPECT_EQ(asked, 0);
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
