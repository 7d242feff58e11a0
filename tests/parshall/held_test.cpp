// SPDX-License-Identifier: Apache-2.0
#include "parshall/held.hpp"

#include <gtest/gtest.h>

namespace parshall {
namespace {

TEST(HeldFilter, OfACaptureIsCompiledBeforeWhereItMayHaveNames) {
  SourcePlan source;
  Held held;
  source.file = "a.pcap";
  source.filter = "host 192.0.2.1 or tcp";
  EXPECT_FALSE(held.hold_filter(source));
  EXPECT_FALSE(held.filter);

  source.filter = "host 192.0.2.1 or tcp port domain";
  EXPECT_FALSE(held.hold_filter(source));
  ASSERT_TRUE(held.filter);
}

TEST(HeldFilter, OfTrafficIsCompiledBefore) {
  SourcePlan source;
  Held held;
  source.traffic = "flows=1";
  source.filter = "tcp";
  EXPECT_FALSE(held.hold_filter(source));
  EXPECT_TRUE(held.filter);
}

TEST(HeldFilter, WithAMistakeIsAnError) {
  SourcePlan source;
  Held held;
  source.traffic = "flows=1";
  source.filter = "udp udp";
  EXPECT_TRUE(held.hold_filter(source));
}

}  // namespace
}  // namespace parshall
