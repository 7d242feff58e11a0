// SPDX-License-Identifier: Apache-2.0
#include "parshall/held_texts.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "pipeline/capture/bpf_filter.hpp"

namespace parshall {
namespace {

TEST(HeldFilter, OfACaptureIsCompiledBeforeWhereItMayHaveNames) {
  SourcePlan source;
  source.file = "a.pcap";
  source.filter = "host 192.0.2.1 or tcp";
  EXPECT_FALSE(hold_filter(source, {}));
  EXPECT_FALSE(source.compiled_filter);

  source.filter = "host 192.0.2.1 or tcp port domain";
  EXPECT_FALSE(hold_filter(source, {}));
  ASSERT_TRUE(source.compiled_filter);
}

TEST(HeldFilter, OfTrafficIsCompiledBefore) {
  SourcePlan source;
  source.traffic = "flows=1";
  source.filter = "tcp";
  EXPECT_FALSE(hold_filter(source, {}));
  EXPECT_TRUE(source.compiled_filter);
}

TEST(HeldSource, OfACaptureMayHaveAllLinkTypesThatAreDecoded) {
  SourcePlan source;
  source.file = "a.pcap";
  const auto types = HeldSource{}.link_types(source);
  for (const LinkType type : {LinkType::null, LinkType::ethernet, LinkType::erf, LinkType::linux_sll2})
    EXPECT_NE(std::ranges::find(types, type), types.end()) << static_cast<int>(type);
  EXPECT_EQ(std::ranges::find(types, LinkType{147}), types.end());
}

TEST(HeldFilter, WithAMistakeIsAnError) {
  SourcePlan source;
  source.traffic = "flows=1";
  source.filter = "udp udp";
  EXPECT_TRUE(hold_filter(source, {}));
}

}  // namespace
}  // namespace parshall
