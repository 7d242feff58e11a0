// SPDX-License-Identifier: Apache-2.0
#include "base/service_names.hpp"

#include <gtest/gtest.h>

namespace parshall {
namespace {

constexpr std::uint8_t kIcmp = 1, kTcp = 6, kUdp = 17, kSctp = 132;

TEST(ServiceName, IsOfTheProtocolAndThePort) {
  EXPECT_EQ(service_name(kTcp, 443), "https");
  EXPECT_EQ(service_name(kUdp, 443), "https");
  EXPECT_EQ(service_name(kTcp, 514), "shell");
  EXPECT_EQ(service_name(kUdp, 514), "syslog");
  EXPECT_EQ(service_name(kSctp, 3868), "diameter");
  EXPECT_EQ(service_name(kUdp, 51820), "wireguard");
  EXPECT_EQ(service_name(kTcp, 7), "echo");
}

TEST(ServiceName, IsNoneOfOthers) {
  EXPECT_EQ(service_name(kUdp, 22), "ssh");
  EXPECT_EQ(service_name(kTcp, 51820), "");
  EXPECT_EQ(service_name(kIcmp, 443), "");
  EXPECT_EQ(service_name(kTcp, 0), "");
  EXPECT_EQ(service_name(kTcp, 65535), "");
}

}  // namespace
}  // namespace parshall
