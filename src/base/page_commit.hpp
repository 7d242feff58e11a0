// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstddef>
#include <span>
#include <thread>
#include <vector>

namespace parshall {

/// Memory ranges for the kernel to back with pages before they are first touched.
using PageRanges = std::vector<std::span<std::byte>>;

/// Commits pages at once where the kernel can (Linux 5.14). If they are many and this thread has a CommitLater, notes
/// them there instead.
void commit_pages(std::span<std::byte> pages);

/// Collects, while it lives, the pages that its thread wants committed, for a CommitThread. Committing gigabytes takes
/// seconds.
class CommitLater {
 public:
  CommitLater() noexcept;
  ~CommitLater();
  CommitLater(const CommitLater&) = delete;
  CommitLater& operator=(const CommitLater&) = delete;

  PageRanges take() noexcept { return std::move(ranges_); }

 private:
  friend void commit_pages(std::span<std::byte> pages);
  CommitLater* outer_;
  PageRanges ranges_;
};

/// Thread that commits pages while others already use them. It starts once these others have touched 1 / kStartShare of
/// all, because few flows need little memory. Pages that they touch first are 4 kB each and come within microseconds;
/// untouched memory gets 2 MB pages. Ranges that were unmapped in the meantime do no harm.
class CommitThread {
 public:
  static constexpr std::size_t kStartShare = 1024;

  CommitThread() = default;
  ~CommitThread();
  CommitThread(const CommitThread&) = delete;
  CommitThread& operator=(const CommitThread&) = delete;

  /// Starts on the ranges of a CommitLater, in order.
  void start(PageRanges ranges);

 private:
  void wait_for_use(std::size_t bytes) const;

  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace parshall
