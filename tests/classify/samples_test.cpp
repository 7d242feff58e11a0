// SPDX-License-Identifier: Apache-2.0
#include "classify/samples.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace parshall {
namespace {

Samples three_flows() {
  Samples samples{.packets = 2};
  samples.add(std::vector<std::uint16_t>{60, 52}, "web", "monday");
  samples.add(std::vector<std::uint16_t>{70, 0}, "dns", "tuesday");
  samples.add(std::vector<std::uint16_t>{61, 53}, "web", "tuesday");
  return samples;
}

TEST(Samples, NumberNamesByTheirFirstFlow) {
  const Samples samples = three_flows();
  EXPECT_EQ(samples.size(), 3u);
  EXPECT_EQ(samples.classes, (std::vector<ClassId>{0, 1, 0}));
  EXPECT_EQ(samples.captures, (std::vector<std::uint32_t>{0, 1, 1}));
  EXPECT_EQ(samples.class_names, (std::vector<std::string>{"web", "dns"}));
  EXPECT_EQ(samples.capture_names, (std::vector<std::string>{"monday", "tuesday"}));
  EXPECT_EQ(samples.flows_by_class(), (std::vector<std::uint64_t>{2, 1}));
  EXPECT_EQ(samples.sizes_of(1)[0], 70);
  EXPECT_EQ(samples.sizes_of(1)[1], Samples::kMissing);
}

TEST(Samples, KeepTheirNumbersInAPart) {
  const Samples part = three_flows().where({false, true, false});
  EXPECT_EQ(part.packets, 2u);
  EXPECT_EQ(part.sizes, (std::vector<std::uint16_t>{70, 0}));
  EXPECT_EQ(part.classes, (std::vector<ClassId>{1}));
  EXPECT_EQ(part.captures, (std::vector<std::uint32_t>{1}));
  EXPECT_EQ(part.class_names, three_flows().class_names);
}

TEST(Samples, CapLongSizesAndLeaveMissingOnesMissing) {
  Samples samples = three_flows();
  samples.add(std::vector<std::uint16_t>{16384, 1501}, "web", "tuesday");
  samples.cap(61);
  EXPECT_EQ(samples.sizes, (std::vector<std::uint16_t>{60, 52, 61, 0, 61, 53, 61, 61}));
}

}  // namespace
}  // namespace parshall
