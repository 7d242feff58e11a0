// SPDX-License-Identifier: Apache-2.0
#include "base/page_commit.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "base/huge_buffer.hpp"

namespace parshall {
namespace {

constexpr std::size_t kBytes = std::size_t{128} << 20;

std::size_t resident(HugeBuffer<std::byte>& buffer) {
  std::vector<unsigned char> pages(buffer.bytes() / static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)));
  EXPECT_EQ(::mincore(buffer.data(), buffer.bytes(), pages.data()), 0);
  return kBytes / pages.size() *
         static_cast<std::size_t>(std::ranges::count_if(pages, [](auto page) { return page & 1; }));
}

/// Whether this kernel can (Linux 5.14).
bool commits_in_advance() {
  HugeBuffer<std::byte> probe(kBytes);
  probe.populate();
  return resident(probe) != 0;
}

TEST(CommitPages, AtOnceUnlessThereIsALaterTime) {
  if (!commits_in_advance()) GTEST_SKIP() << "SKIPPED: this kernel commits nothing in advance";
  HugeBuffer<std::byte> now(kBytes), noted(kBytes);
  now.populate();
  EXPECT_EQ(resident(now), kBytes);
  HugeBuffer<std::byte> few(kBytes / 16);
  CommitLater later;
  few.populate();
  noted.populate();
  EXPECT_EQ(resident(noted), 0u);
  const PageRanges ranges = later.take();
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges[0].data(), noted.data());
  EXPECT_EQ(ranges[0].size(), kBytes);
}

TEST(CommitThread, WaitsUntilSomeMemoryIsUsedAndThenCommitsAllOfIt) {
  if (!commits_in_advance()) GTEST_SKIP() << "SKIPPED: this kernel commits nothing in advance";
  HugeBuffer<std::byte> buffer(kBytes);
  CommitThread thread;
  {
    CommitLater later;
    buffer.populate();
    thread.start(later.take());
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_EQ(resident(buffer), 0u);
  constexpr std::size_t kUsed = kBytes / 16;
  for (std::size_t at = 0; at < kUsed; at += 4096) buffer[at * 8 % kBytes] = std::byte{7};
  for (int tries = 0; tries < 600 && resident(buffer) != kBytes; ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(resident(buffer), kBytes);
  for (std::size_t at = 0; at < kUsed; at += 4096) ASSERT_EQ(buffer[at * 8 % kBytes], std::byte{7});
  EXPECT_EQ(buffer[1], std::byte{0});
}

TEST(CommitThread, EndsAtOnceThoughNothingWasUsed) {
  HugeBuffer<std::byte> buffer(kBytes);
  const auto began = std::chrono::steady_clock::now();
  {
    CommitLater later;
    buffer.populate();
    CommitThread thread;
    thread.start(later.take());
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(5));
  EXPECT_EQ(resident(buffer), 0u);
}

}  // namespace
}  // namespace parshall
