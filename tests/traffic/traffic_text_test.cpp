// SPDX-License-Identifier: Apache-2.0
#include "traffic/traffic_text.hpp"

#include <gtest/gtest.h>

namespace parshall {
namespace {

TEST(ChangedTraffic, HasTheChangesAndWhatTheyLeave) {
  EXPECT_EQ(changed_traffic("flows=1,size=64", "size=imix,seed=2"), "flows=1,size=imix,seed=2");
  EXPECT_EQ(changed_traffic("", "flows=1"), "flows=1");
  EXPECT_EQ(changed_traffic("flows=1", ""), "flows=1");
  EXPECT_EQ(changed_traffic("flows=1", "flows=2"), "flows=2");
  EXPECT_EQ(changed_traffic("src-mac=a,mac=b", "mac=c"), "src-mac=a,mac=c") << "of the whole name";
  EXPECT_EQ(changed_traffic("flows=1", "nonsense"), "flows=1,nonsense") << "for the parser to tell";
}

}  // namespace
}  // namespace parshall
