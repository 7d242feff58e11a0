// SPDX-License-Identifier: Apache-2.0
#include "base/heap.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "../resident_bytes.hpp"

namespace parshall {
namespace {

using Block = std::unique_ptr<char[]>;
constexpr std::size_t kMb = 1 << 20;

Block block_of(std::size_t bytes) {
  Block block(new char[bytes]);
  std::memset(block.get(), 1, bytes);
  return block;
}

/// Larger and larger blocks that are freed soon, and small ones between them that stay.
std::vector<Block> what_stays() {
  std::vector<Block> small;
  block_of(30 * kMb).reset();
  for (std::size_t mb = 2; mb < 20; ++mb) {
    const Block large = block_of(mb * kMb);
    small.push_back(block_of(16 << 10));
  }
  return small;
}

TEST(Heap, LargeBlocksThatAreFreedLeaveNoHolesBetweenSmallOnes) {
  if (kSanitized) GTEST_SKIP() << "whose malloc is another";
  have_heap_shrink();
  const std::uint64_t before = resident_bytes();
  const std::vector<Block> small = what_stays();
  EXPECT_LT(resident_bytes(), before + 8 * kMb) << small.size() << " small blocks stay";
}

}  // namespace
}  // namespace parshall
