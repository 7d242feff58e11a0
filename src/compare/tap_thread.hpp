// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "compare/tap.hpp"
#include "pipeline/capture/bpf_filter.hpp"
#include "pipeline/capture/source.hpp"

namespace parshall {

/// Reads a live source in a thread of its own, so that it loses nothing while packets are compared.
///
/// If packets are not taken, it stops reading once it holds kMostHeld; then the device drops packets, and counts them.
class TapThread {
 public:
  static constexpr std::size_t kMostHeld = std::size_t{1} << 18;

  /// `ring_packets`: how many the device holds. Throws std::bad_alloc.
  TapThread(std::unique_ptr<PacketSource> source, const PacketIds& ids, std::optional<BpfFilter> filter,
            std::uint64_t ring_packets);
  ~TapThread();
  TapThread(const TapThread&) = delete;
  TapThread& operator=(const TapThread&) = delete;

  /// Moves what was read since the last call to `to`, and updates its counts.
  void take(Tap& to, FlowNumbers& flows);

  /// Asks for a mark: has_caught_up() tells once all packets that were there at this call have been read.
  void ask() noexcept { asked_.fetch_add(1, std::memory_order_release); }
  bool has_caught_up() const noexcept {
    return has_ended() || answered_.load(std::memory_order_acquire) == asked_.load(std::memory_order_relaxed);
  }

  /// Returns whether no packet can come any more.
  bool has_ended() const noexcept { return ended_.load(std::memory_order_acquire); }

  const PacketSource& source() const noexcept { return *source_; }

 private:
  static constexpr std::size_t kBatch = 256;

  void run();
  void keep(std::span<const RawPacket> packets);
  void wait() const noexcept;

  std::unique_ptr<PacketSource> source_;
  PacketIds ids_;
  std::optional<BpfFilter> filter_;
  std::uint64_t ring_packets_;
  std::mutex mutex_;  ///< of the next two
  TapCounts counts_;
  std::vector<SeenPacket> held_;
  std::vector<SeenPacket> taken_;  ///< of the thread that takes; empty between calls
  std::atomic<std::uint64_t> asked_{0}, answered_{0};
  std::atomic<bool> ended_{false}, stops_{false};
  std::thread thread_;
};

}  // namespace parshall
