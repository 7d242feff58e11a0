// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "application_bytes.hpp"
#include "pipeline/decode/application/first_bytes.hpp"

namespace parshall::testing {
namespace {

Bytes prefix_of(const FirstBytes& bytes) { return {bytes.prefix().begin(), bytes.prefix().end()}; }

TEST(FirstBytes, PiecesInAnyOrderGiveThePrefix) {
  const auto bytes = std::make_unique<FirstBytes>();
  EXPECT_TRUE(bytes->prefix().empty());
  bytes->insert(4, Bytes{5, 6});
  EXPECT_TRUE(bytes->prefix().empty());
  bytes->insert(0, Bytes{1, 2});
  EXPECT_EQ(prefix_of(*bytes), (Bytes{1, 2}));
  bytes->insert(2, Bytes{3, 4});
  EXPECT_EQ(prefix_of(*bytes), (Bytes{1, 2, 3, 4, 5, 6}));
  bytes->clear();
  EXPECT_TRUE(bytes->prefix().empty());
  bytes->insert(0, Bytes{9});
  EXPECT_EQ(prefix_of(*bytes), (Bytes{9})) << "nothing of the last stream is left";
}

TEST(FirstBytes, TheFirstCopyOfAByteCounts) {
  const auto bytes = std::make_unique<FirstBytes>();
  bytes->insert(2, Bytes{1, 1});
  bytes->insert(6, Bytes{2, 2});
  bytes->insert(0, Bytes(10, 9));
  EXPECT_EQ(prefix_of(*bytes), (Bytes{9, 9, 1, 1, 9, 9, 2, 2, 9, 9}));
  bytes->insert(3, Bytes(9, 7));
  EXPECT_EQ(prefix_of(*bytes), (Bytes{9, 9, 1, 1, 9, 9, 2, 2, 9, 9, 7, 7}));
}

TEST(FirstBytes, WhatLiesBeyondIsDropped) {
  const auto bytes = std::make_unique<FirstBytes>();
  bytes->insert(FirstBytes::kBytes, Bytes{1});
  bytes->insert(0xffffffff, Bytes{1, 2, 3});
  bytes->insert(FirstBytes::kBytes - 2, Bytes{1, 2, 3, 4});
  bytes->insert(0, {});
  EXPECT_TRUE(bytes->prefix().empty());
  bytes->insert(0, Bytes(FirstBytes::kBytes + 5, 8));
  EXPECT_EQ(bytes->prefix().size(), FirstBytes::kBytes);
  EXPECT_EQ(bytes->prefix().back(), 2);
}

TEST(FirstBytes, ASeventeenthRangeIsDropped) {
  const auto bytes = std::make_unique<FirstBytes>();
  for (std::uint32_t i = 0; i < 17; ++i) bytes->insert(i * 2, Bytes{1});
  for (std::uint32_t i = 0; i < 17; ++i) bytes->insert(i * 2 + 1, Bytes{2});
  EXPECT_EQ(bytes->prefix().size(), 32u) << "the byte at 32 is missing";
  bytes->insert(32, Bytes{3});
  EXPECT_EQ(bytes->prefix().size(), 34u) << "there is room again";
  EXPECT_EQ(bytes->prefix()[32], 3);
}

/// An array of bytes that are there or not is the truth, as long as there are few ranges.
TEST(FirstBytes, RandomPiecesGiveWhatAnArrayGives) {
  std::mt19937 random(3);
  const auto bytes = std::make_unique<FirstBytes>();
  for (int round = 0; round < 3'000; ++round) {
    const std::size_t size = 40 + random() % 60;
    std::vector<std::optional<std::uint8_t>> truth(200);
    bytes->clear();
    for (int pieces = static_cast<int>(random() % 30); pieces > 0; --pieces) {
      const auto offset = static_cast<std::uint32_t>(random() % size);
      Bytes piece(random() % 20);
      for (auto& byte : piece) byte = static_cast<std::uint8_t>(random());
      const auto before = truth;
      for (std::size_t i = 0; i < piece.size(); ++i)
        if (!truth[offset + i]) truth[offset + i] = piece[i];
      std::size_t ranges = 0;
      for (std::size_t i = 0; i < truth.size(); ++i) ranges += truth[i] && (i == 0 || !truth[i - 1]);
      if (ranges > FirstBytes::kMostRanges) truth = before;
      bytes->insert(offset, piece);
      Bytes expected;
      for (std::size_t i = 0; i < truth.size() && truth[i]; ++i) expected.push_back(*truth[i]);
      ASSERT_EQ(prefix_of(*bytes), expected);
    }
  }
}

}  // namespace
}  // namespace parshall::testing
