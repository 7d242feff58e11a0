// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/address_names.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace parshall {
namespace {

MappedAddress address_with(std::uint8_t last) {
  MappedAddress address{};
  address[15] = last;
  return address;
}

TEST(AddressNames, AreThoseThatTheClientWasGivenElseThatAnybodyWas) {
  AddressNames names;
  std::string room;
  const MappedAddress one = address_with(1), other = address_with(2), server = address_with(9);
  EXPECT_EQ(names.find(one, server, room), "");
  names.learn(one, server, "a.example");
  names.learn(other, server, "b.example");
  EXPECT_EQ(names.find(one, server, room), "a.example");
  EXPECT_EQ(names.find(other, server, room), "b.example");
  EXPECT_EQ(names.find(address_with(3), server, room), "b.example");
  EXPECT_EQ(names.find(server, room), "b.example");
  EXPECT_EQ(names.find(one, other, room), "");
  names.learn(one, server, "c.example");
  EXPECT_EQ(names.find(one, server, room), "c.example");
  EXPECT_EQ(names.find(other, server, room), "b.example");
}

TEST(AddressNames, ThatWereNotLearntAgainMakeRoom) {
  AddressNames names(8);  // two for each answer
  std::string room;
  for (std::uint8_t i = 1; i <= 4; ++i) names.learn(address_with(100), address_with(i), "old" + std::to_string(i));
  names.learn(address_with(100), address_with(1), "again");
  names.learn(address_with(100), address_with(5), "new");
  EXPECT_EQ(names.find(address_with(100), address_with(1), room), "again");
  EXPECT_EQ(names.find(address_with(100), address_with(2), room), "");
  EXPECT_EQ(names.find(address_with(2), room), "");
  EXPECT_EQ(names.find(address_with(100), address_with(3), room), "old3");
  EXPECT_EQ(names.find(address_with(100), address_with(5), room), "new");
  for (int i = 0; i < 1000; ++i)
    names.learn(address_with(static_cast<std::uint8_t>(i % 7)), address_with(static_cast<std::uint8_t>(i % 11)), "x");
  EXPECT_EQ(names.find(address_with(999 % 7), address_with(999 % 11), room), "x");
}

}  // namespace
}  // namespace parshall
