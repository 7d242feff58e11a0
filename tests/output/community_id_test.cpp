// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/records/community_id.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/output/put_value.hpp"
#include "pipeline/output/records/schema.hpp"

// In builds with OpenSSL; no_community_id_test.cpp in others.

namespace parshall {
namespace {

using std::string;

FlowKey key_of(std::uint8_t protocol, const char* src, unsigned src_port, const char* dst, unsigned dst_port) {
  FlowKey key;
  key.protocol = protocol;
  key.ip_version = string(src).find(':') == string::npos ? 4 : 6;
  key.src_port_bytes = {static_cast<std::uint8_t>(src_port >> 8), static_cast<std::uint8_t>(src_port)};
  key.dst_port_bytes = {static_cast<std::uint8_t>(dst_port >> 8), static_cast<std::uint8_t>(dst_port)};
  const int family = key.ip_version == 4 ? AF_INET : AF_INET6;
  inet_pton(family, src, key.address.data());
  inet_pton(family, dst, key.address.data() + key.address_bytes());
  return key;
}

string text_of(const FlowKey& key) {
  const auto digest = community_id(key);
  return digest ? community_id_text(*digest) : "none";
}

// Source: github.com/corelight/community-id-spec, baseline/baseline_deflt.json.
TEST(CommunityId, IsThatOfItsSpecificationForBothDirections) {
  const std::pair<FlowKey, string> known[] = {
      {key_of(6, "128.232.110.120", 34855, "66.35.250.204", 80), "1:LQU9qZlK+B5F3KDmev6m5PMibrg="},
      {key_of(6, "66.35.250.204", 80, "128.232.110.120", 34855), "1:LQU9qZlK+B5F3KDmev6m5PMibrg="},
      {key_of(17, "192.168.1.52", 54585, "8.8.8.8", 53), "1:d/FP5EW3wiY1vCndhwleRRKHowQ="},
      {key_of(17, "8.8.8.8", 53, "192.168.1.52", 54585), "1:d/FP5EW3wiY1vCndhwleRRKHowQ="},
      {key_of(132, "192.168.170.8", 7, "192.168.170.56", 80), "1:jQgCxbku+pNGw8WPbEc/TS/uTpQ="},
  };
  for (const auto& [key, text] : known) EXPECT_EQ(text_of(key), text);
}

TEST(CommunityId, IsAColumnThatIsWrittenAsText) {
  const auto schema = Schema::make(std::vector<string>{"community_id"}, {});
  ASSERT_TRUE(schema);
  const FlowKey keys[] = {key_of(6, "128.232.110.120", 34855, "66.35.250.204", 80),
                          key_of(1, "10.0.0.1", 0, "10.0.0.2", 0)};
  std::vector<Value> values(schema->columns().size());
  schema->read({.key = keys[0]}, {}, {}, values);
  std::array<char, kCommunityIdChars + 20> text;
  ASSERT_GE(longest_value(schema->columns().back()), kCommunityIdChars);
  EXPECT_EQ(string(text.data(), put_value(text.data(), schema->columns().back(), values.back())),
            "1:LQU9qZlK+B5F3KDmev6m5PMibrg=");
  EXPECT_FALSE(values.back().number());
  schema->read({.key = keys[1]}, {}, {}, values);
  EXPECT_FALSE(values.back().present());
}

TEST(CommunityId, AValueHasAllOfItAndComparesByIt) {
  std::array<std::uint8_t, 20> low{}, high{};
  low[19] = 1;
  high[19] = 2;
  EXPECT_EQ(Value::of_community_id(high).as_digest(), high);
  EXPECT_TRUE(Value::of_community_id(low) < Value::of_community_id(high));
  EXPECT_NE(Value::of_community_id(low), Value::of_community_id(high));
}

TEST(CommunityId, PortsCountOnlyWhereThereAreSome) {
  EXPECT_EQ(text_of(key_of(47, "10.0.0.1", 0, "10.0.0.2", 0)), text_of(key_of(47, "10.0.0.2", 7, "10.0.0.1", 9)));
  EXPECT_NE(text_of(key_of(6, "10.0.0.1", 5, "10.0.0.1", 7)), text_of(key_of(6, "10.0.0.1", 5, "10.0.0.1", 8)));
  EXPECT_EQ(text_of(key_of(6, "2001:db8::1", 5, "2001:db8::2", 7)),
            text_of(key_of(6, "2001:db8::2", 7, "2001:db8::1", 5)));
  EXPECT_EQ(text_of(key_of(1, "10.0.0.1", 0, "10.0.0.2", 0)), "none");
  EXPECT_EQ(text_of(key_of(58, "2001:db8::1", 0, "2001:db8::2", 0)), "none");
}

}  // namespace
}  // namespace parshall
