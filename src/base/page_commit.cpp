// SPDX-License-Identifier: Apache-2.0
#include "base/page_commit.hpp"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include "base/heap.hpp"
#include "base/thread_name.hpp"

namespace parshall {
namespace {

thread_local CommitLater* later = nullptr;

constexpr std::size_t kSlice = std::size_t{2} << 20;     ///< a huge page: limits the wait of other threads' page faults
constexpr std::size_t kAtOnce = std::size_t{64} << 20;   ///< small enough to commit at once without a noticeable delay
constexpr std::size_t kLeastUse = std::size_t{1} << 20;  ///< less than this does not show that the pages are in use

constexpr std::chrono::milliseconds kLook{100};  ///< costs 0.1 % of a core on a quiet link

/// Commits a slice in place. Pages touched before stay small, because merging them would stall the threads that use
/// them.
void commit_slice(std::span<std::byte> slice) noexcept {
  ::madvise(slice.data(), slice.size(), MADV_HUGEPAGE);
  ::madvise(slice.data(), slice.size(), MADV_POPULATE_WRITE);
}

}  // namespace

void commit_pages(std::span<std::byte> pages) {
  if (later == nullptr || pages.size() <= kAtOnce) {
    ::madvise(pages.data(), pages.size(), MADV_POPULATE_WRITE);
    return;
  }
  try {
    later->ranges_.push_back(pages);
    ::madvise(pages.data(), pages.size(), MADV_NOHUGEPAGE);
  } catch (const std::bad_alloc&) {  // on failure, pages are committed when first touched
  }
}

CommitLater::CommitLater() noexcept : outer_(std::exchange(later, this)) {}
CommitLater::~CommitLater() { later = outer_; }

void CommitThread::wait_for_use(std::size_t bytes) const {
  const std::uint64_t before = resident_bytes();
  while (!stop_.load(std::memory_order_relaxed) && resident_bytes() < before + std::max(bytes / kStartShare, kLeastUse))
    std::this_thread::sleep_for(kLook);
}

void CommitThread::start(PageRanges ranges) {
  if (ranges.empty()) return;
  thread_ = std::thread([this, ranges = std::move(ranges)] {
    name_this_thread("commit");
    let_others_first();
    std::size_t bytes = 0;
    for (const auto range : ranges) bytes += range.size();
    wait_for_use(bytes);
    for (std::span<std::byte> range : ranges)
      for (; !range.empty() && !stop_.load(std::memory_order_relaxed);
           range = range.subspan(std::min(kSlice, range.size())))
        commit_slice(range.first(std::min(kSlice, range.size())));
  });
}

CommitThread::~CommitThread() {
  stop_.store(true, std::memory_order_relaxed);
  if (thread_.joinable()) thread_.join();
}

}  // namespace parshall
