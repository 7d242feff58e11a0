// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstddef>
#include <span>
#include <thread>
#include <vector>

namespace parshall {

/// Memory to be committed: the kernel gives it pages before anyone touches it.
using PageRanges = std::vector<std::span<std::byte>>;

/// Commits pages now, where the kernel can (Linux 5.14); or notes them, where they are many and this thread has a
/// CommitLater.
void commit_pages(std::span<std::byte> pages);

/// While one lives, what its thread wants committed is noted in it instead, for a CommitThread: gigabytes take seconds.
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

/// A thread that commits pages while others use them already. It begins when these have touched the kStartShare-th part
/// of all: before that, few flows take little memory. Whatever they touch first comes by 4 kB, in microseconds; where
/// they have touched nothing yet the thread puts pages of 2 MB. Memory that has gone meanwhile does no harm.
class CommitThread {
 public:
  static constexpr std::size_t kStartShare = 1024;

  CommitThread() = default;
  ~CommitThread();
  CommitThread(const CommitThread&) = delete;
  CommitThread& operator=(const CommitThread&) = delete;

  /// Of a CommitLater, in that order.
  void start(PageRanges ranges);

 private:
  void wait_for_use(std::size_t bytes) const;

  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace parshall
