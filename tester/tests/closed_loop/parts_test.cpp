// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tester/closed_loop/endpoint.hpp"
#include "tester/closed_loop/source_ports.hpp"
#include "tester/fairness.hpp"

namespace parshall::tester {
namespace {

TEST(SourcePorts, EachComesOnceInARound) {
  SourcePorts ports(1024, 64512, 0, 1);
  ASSERT_EQ(ports.count(), 64512u);
  std::set<std::uint16_t> seen;
  std::vector<std::uint16_t> first;
  for (int i = 0; i < 64512; ++i) {
    first.push_back(ports.next());
    seen.insert(first.back());
  }
  EXPECT_EQ(seen.size(), 64512u);
  EXPECT_EQ(*seen.begin(), 1024);
  EXPECT_EQ(*seen.rbegin(), 65535);
  for (const std::uint16_t port : first) ASSERT_EQ(ports.next(), port) << "each rests as long as all others";
}

TEST(SourcePorts, TheirOrderIsTheSeeds) {
  const auto order = [](std::uint64_t seed) {
    SourcePorts ports(1, 1000, 0, seed);
    std::vector<std::uint16_t> all(1000);
    for (std::uint16_t& port : all) port = ports.next();
    return all;
  };
  EXPECT_EQ(order(1), order(1));
  EXPECT_NE(order(1), order(2));
  EXPECT_FALSE(std::ranges::is_sorted(order(1)));
}

TEST(SourcePorts, OneIsLeftOut) {
  SourcePorts ports(10, 3, 11, 1);
  ASSERT_EQ(ports.count(), 2u);
  for (int i = 0; i < 4; ++i) EXPECT_NE(ports.next(), 11);
}

TEST(Fairness, GoesFromOneNthToOne) {
  EXPECT_DOUBLE_EQ(*jain_index(std::vector<std::uint64_t>{5, 5, 5, 5}), 1);
  EXPECT_DOUBLE_EQ(*jain_index(std::vector<std::uint64_t>{9, 0, 0, 0}), 0.25);
  EXPECT_DOUBLE_EQ(*jain_index(std::vector<std::uint64_t>{1, 2, 3}), 36.0 / 42);
  EXPECT_FALSE(jain_index(std::vector<std::uint64_t>{0, 0}));
}

TEST(Endpoint, IsReadAndTold) {
  for (const char* const text : {"192.0.2.1:7777", "[2001:db8::1]:80", "0.0.0.0:0"})
    EXPECT_EQ(Endpoint::parse(text)->text(), text);
  EXPECT_EQ(Endpoint::parse("192.0.2.1:7777")->port(), 7777);
  EXPECT_EQ(Endpoint::parse("[::1]:7")->family(), AF_INET6);
}

TEST(Endpoint, WhatIsNoneIsRefusedWithAnExample) {
  for (const char* const text : {"", ":", "192.0.2.1", "192.0.2.1:", "192.0.2.1:65536", "192.0.2.1:7x", "192.0.2:7",
                                 "2001:db8::1:80", "[192.0.2.1]:80", "[]:80", "host:80"}) {
    const auto endpoint = Endpoint::parse(text);
    ASSERT_FALSE(endpoint) << text;
    EXPECT_NE(endpoint.error().message.find("[2001:db8::1]:7777"), std::string::npos);
  }
}

}  // namespace
}  // namespace parshall::tester
