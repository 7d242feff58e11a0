// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>

#include "base/spsc_ring.hpp"

namespace parshall {

/// Packet of a connection that gets a label.
struct LabelJob {
  static constexpr std::size_t kMostBytes = 1514;

  std::uint64_t connection;  ///< hash of its addresses and ports
  std::uint64_t time_ns;
  std::uint32_t flow;   ///< number of the flow among those of its worker; another one is another flow
  std::uint8_t way;     ///< 0 or 1: the connection's direction
  std::uint16_t bytes;  ///< 0: the flow begins, with a packet that is not inspected
  std::array<std::uint8_t, kMostBytes> packet;  ///< the first bytes, from the IP header on
};

/// Packets from a worker to the thread that labels.
///
/// Shape: a ring of kJobs packets, 1.6 MB, committed when first used.
/// Full:  a source that cannot wait drops the packet, and counts it. Another one waits.
class LabelFeed {
 public:
  static constexpr std::size_t kJobs = 1024;

  explicit LabelFeed(bool can_wait) : can_wait_(can_wait) {}

  /// Worker: sends a packet.
  void send(std::uint64_t connection, std::uint32_t flow, std::uint8_t way, std::uint64_t time_ns,
            std::span<const std::uint8_t> packet) noexcept {
    LabelJob* job = ring_.stage();
    while (job == nullptr && can_wait_) {
      flush();
      std::this_thread::yield();
      job = ring_.stage();
    }
    if (job == nullptr) {
      dropped_.store(dropped_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      return;
    }
    job->connection = connection;
    job->time_ns = time_ns;
    job->flow = flow;
    job->way = way;
    job->bytes = static_cast<std::uint16_t>(std::min(packet.size(), LabelJob::kMostBytes));
    std::ranges::copy(packet.first(job->bytes), job->packet.begin());
  }
  void flush() noexcept { ring_.flush(); }

  /// Worker: waits until all packets that were sent are labelled, if the source can wait.
  void catch_up() noexcept {
    flush();
    while (can_wait_ && !ring_.empty()) std::this_thread::yield();
  }

  /// Any thread: packets that found the ring full.
  std::uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }

  SpscRing<LabelJob>& ring() noexcept { return ring_; }

 private:
  const bool can_wait_;
  SpscRing<LabelJob> ring_{kJobs};
  std::atomic<std::uint64_t> dropped_{0};
};

}  // namespace parshall
