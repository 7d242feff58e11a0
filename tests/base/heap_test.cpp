// SPDX-License-Identifier: Apache-2.0
#include "base/heap.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdlib>
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

/// In a process of its own: what is set stays set.
void expect_left_to(const char* variable, const char* value) {
  EXPECT_EXIT(
      {
        ::setenv(variable, value, 1);
        ::mallopt(M_MMAP_THRESHOLD, static_cast<int>(16 * kMb));  // as the C library does by that before main()
        have_heap_shrink();
        const std::uint64_t before = ::mallinfo2().hblks;
        const Block large = block_of(4 * kMb);
        std::exit(::mallinfo2().hblks == before ? 0 : 1);  // of the heap, not a mapping of its own
      },
      ::testing::ExitedWithCode(0), "")
      << variable;
}

TEST(Heap, WhatTheEnvironmentSetsStays) {
  if (kSanitized) GTEST_SKIP() << "whose malloc is another";
  expect_left_to("MALLOC_MMAP_THRESHOLD_", "16777216");
  expect_left_to("GLIBC_TUNABLES", "glibc.malloc.arena_max=2:glibc.malloc.mmap_threshold=16777216");
}

}  // namespace
}  // namespace parshall
