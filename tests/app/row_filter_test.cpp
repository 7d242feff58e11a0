// SPDX-License-Identifier: Apache-2.0
#include "app/live/row_filter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "reports.hpp"

namespace parshall::live {
namespace {

using ::testing::HasSubstr;

/// Returns whether the filter lets this flow pass, with 2,000 packets a second and an unknown mean gap.
bool passes(const std::string& text, const FlowRecord& record = flow(1, 5)) {
  const auto filter = RowFilter::parse(text, {{"pps", 3}, {"gap_mean_packets", 7}});
  EXPECT_TRUE(filter.has_value()) << text << ": " << (filter ? "" : filter.error().message);
  return filter && filter->matches({record.key, [](std::size_t column) { return column == 3 ? 2000 : NAN; }});
}

TEST(LiveRowFilter, TermsAreWordsOfPacketFiltersAndColumns) {  // 10.0.0.1:4096 to 192.0.2.1:443, TCP
  for (const char* const text : {"host 10.0.0.1",
                                 "10.0.0.1",
                                 "src host 10.0.0.1",
                                 "dst host 192.0.2.1",
                                 "net 10.0.0.0/8",
                                 "dst net 192.0.2.0/24",
                                 "192.0.2.0/25",
                                 "port 443",
                                 "dst port 443",
                                 "src port 4096",
                                 "proto tcp",
                                 "TCP",
                                 "proto 6",
                                 "pps > 1000",
                                 "pps>=2k",
                                 "pps = 2000",
                                 "pps != 1",
                                 "pps < 1e4",
                                 "",
                                 "   "})
    EXPECT_TRUE(passes(text)) << text;
  for (const char* const text :
       {"host 10.0.0.2", "src host 192.0.2.1", "dst host 10.0.0.1", "net 11.0.0.0/8", "src net 192.0.2.0/24", "port 80",
        "src port 443", "udp", "proto 17", "pps > 2000", "pps < 2k", "gap_mean_packets < 1", "gap_mean_packets >= 0"})
    EXPECT_FALSE(passes(text)) << text;
}

TEST(LiveRowFilter, AndBindsMoreThanOrAndMayBeLeftOut) {
  EXPECT_TRUE(passes("udp and port 1 or tcp"));
  EXPECT_FALSE(passes("udp and (port 1 or tcp)"));
  EXPECT_TRUE(passes("tcp port 443 pps > 1000"));
  EXPECT_FALSE(passes("tcp port 443 pps > 3000"));
  EXPECT_TRUE(passes("not udp and not (port 80 or port 22)"));
  EXPECT_FALSE(passes("not tcp"));
}

TEST(LiveRowFilter, Ipv6IsReadAsItIsWritten) {
  FlowRecord six = flow(0, 1, 17);
  six.key.ip_version = 6;
  six.key.address = {0x20, 0x01, 0x0D, 0xB8};
  six.key.address[15] = 0xAB;
  EXPECT_TRUE(passes("host 2001:db8::ab", six));
  EXPECT_TRUE(passes("2001:db8::/32", six));
  EXPECT_FALSE(passes("2001:db9::/32", six));
  EXPECT_FALSE(passes("0.0.0.0/0", six));
}

TEST(LiveRowFilter, EveryMistakeIsNamed) {
  for (const auto& [text, problem] : {std::pair{"pbs > 3", "\"pbs\" is no word of a filter; did you mean pps?"},
                                      {"zzz", "\"zzz\" is no word"},
                                      {"53", "is it port 53?"},
                                      {":53", "is it port 53?"},
                                      {"host", "an address is missing"},
                                      {"vlan 10", "flows have no VLAN: --columns +vlan adds it"},
                                      {"host lan", "\"lan\" is no address"},
                                      {"port http", "\"http\" is no port"},
                                      {"port 70000", "\"70000\" is no port"},
                                      {"proto x", "\"x\" is no protocol"},
                                      {"pps", "compare pps with a number"},
                                      {"pps >", "a number is missing"},
                                      {"pps > many", "\"many\" is no number"},
                                      {"src tcp", "src and dst stand before"},
                                      {"tcp and", "ends too early"},
                                      {"(tcp", "a closing bracket is missing"},
                                      {"tcp)", "one bracket too many"},
                                      {"not", "ends too early"}}) {
    const auto filter = RowFilter::parse(text, {{"pps", 3}});
    ASSERT_FALSE(filter.has_value()) << text;
    EXPECT_THAT(filter.error().message, HasSubstr(problem)) << text;
  }
}

TEST(LiveRowFilter, DeepBracketsDoNoHarm) {
  const std::string deep = std::string(64, '(') + "tcp" + std::string(64, ')');
  EXPECT_TRUE(passes(deep));
}

}  // namespace
}  // namespace parshall::live
