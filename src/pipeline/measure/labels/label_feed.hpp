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
  std::uint32_t syn_seq;  ///< sequence number, if is_syn
  bool is_syn;            ///< begins a TCP connection, and is not inspected
  bool is_tcp;
  std::uint16_t bytes;
  std::array<std::uint8_t, kMostBytes> packet;  ///< the first bytes, from the IP header on
};

/// Packets from a worker to the thread that labels.
///
/// Shape: a ring of kJobs packets, 1.6 MB, committed when first used.
/// Full:  a source that cannot wait drops the packet, and counts it. Another one waits.
class LabelFeed {
 public:
  static constexpr std::size_t kJobs = 1024, kMemoryBytes = kJobs * sizeof(LabelJob);

  explicit LabelFeed(bool can_wait) : can_wait_(can_wait) {}

  /// Worker: sends a packet.
  void send(std::uint64_t connection, std::uint64_t time_ns, bool is_tcp,
            std::span<const std::uint8_t> packet) noexcept {
    if (LabelJob* const job = next_job()) {
      job->connection = connection;
      job->time_ns = time_ns;
      job->is_syn = false;
      job->is_tcp = is_tcp;
      job->bytes = static_cast<std::uint16_t>(std::min(packet.size(), LabelJob::kMostBytes));
      std::ranges::copy(packet.first(job->bytes), job->packet.begin());
    }
  }
  /// Worker: tells that a TCP connection begins.
  void send_syn(std::uint64_t connection, std::uint64_t time_ns, std::uint32_t seq) noexcept {
    if (LabelJob* const job = next_job()) {
      job->connection = connection;
      job->time_ns = time_ns;
      job->is_syn = job->is_tcp = true;
      job->syn_seq = seq;
      job->bytes = 0;
    }
  }
  void flush() noexcept { ring_.flush(); }

  /// Worker: waits until all packets that were sent are labelled, if the source can wait.
  void catch_up() noexcept {
    flush();
    while (can_wait_ && !ring_.empty()) std::this_thread::yield();
  }
  bool can_wait() const noexcept { return can_wait_; }

  /// Any thread: packets that found the ring full.
  std::uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }

  SpscRing<LabelJob>& ring() noexcept { return ring_; }
  const SpscRing<LabelJob>& ring() const noexcept { return ring_; }

 private:
  LabelJob* next_job() noexcept {
    LabelJob* job = ring_.stage();
    while (job == nullptr && can_wait_) {
      flush();
      std::this_thread::yield();
      job = ring_.stage();
    }
    if (job == nullptr) dropped_.store(dropped_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return job;
  }

  const bool can_wait_;
  SpscRing<LabelJob> ring_{kJobs};
  std::atomic<std::uint64_t> dropped_{0};
};

}  // namespace parshall
