// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <rte_ethdev.h>
#include <rte_mempool.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "pipeline/capture/dpdk/device_rings.hpp"
#include "pipeline/capture/dpdk/driver_facts.hpp"
#include "pipeline/capture/kernel_interface.hpp"
#include "pipeline/capture/source.hpp"

namespace parshall::dpdk {

/// Limits on the length of forwarded or sent frames, in bytes with the Ethernet header.
struct FrameLimits {
  std::uint32_t longest_sent = UINT32_MAX;  ///< without a VLAN tag
  std::uint32_t maybe_cut = UINT32_MAX;     ///< a received frame of this length may have been cut
  bool in_one_piece = false;                ///< true if a chain of buffers cannot be sent
};

/// State that a port's queues share and that must outlive all of them, such as the pools of their packets and a virtual
/// device's rings.
class PortState {
 public:
  PortState(std::uint16_t id, std::uint16_t queues, DriverFacts facts)
      : id_(id), queues_(queues), facts_(facts), drops_(queues) {}
  ~PortState();
  PortState(const PortState&) = delete;
  PortState& operator=(const PortState&) = delete;

  std::uint16_t id() const noexcept { return id_; }
  std::uint16_t queues() const noexcept { return queues_; }
  const DriverFacts& facts() const noexcept { return facts_; }
  bool running() const noexcept { return running_.load(std::memory_order_relaxed); }
  void set_running() noexcept { running_ = true; }

  void own(rte_mempool* pool) { pools_.push_back(pool); }
  void own(DeviceRings rings) { rings_ = std::move(rings); }
  void ask_kernel(std::uint16_t queue, int family, int socket) { drops_[queue].emplace(family, socket); }

  void set_limits(const FrameLimits& limits) noexcept { limits_ = limits; }
  const FrameLimits& limits() const noexcept { return limits_; }

  /// Counts a frame that was longer than the part received.
  void note_joined() noexcept { joined_.fetch_add(1, std::memory_order_relaxed); }

  /// Watches the kernel interface.
  void watch(const KernelInterface& interface) { link_.emplace(interface); }
  bool is_up() const noexcept { return !link_ || link_->is_up(); }
  const std::optional<LinkState>& link() const noexcept { return link_; }

  /// Returns whether the driver says that the link is up; true if it says nothing.
  bool link_is_up() const noexcept;

  /// Returns the line rate: for a kernel interface as the kernel reports it, else as the driver does.
  std::optional<double> line_bps() const noexcept;

  /// Notes that the driver counts the packets of each queue itself.
  void set_counts_queues() noexcept { counts_queues_ = true; }

  Counters device_counters() noexcept;
  Counters queue_counters(std::uint16_t queue) noexcept;

  /// Counts frames that the driver accepted but that closing the port loses.
  void note_untaken(std::uint64_t frames) noexcept { untaken_.fetch_add(frames, std::memory_order_relaxed); }

  /// Returns how many frames the driver accepted for sending and then dropped.
  std::uint64_t dropped_in_sending() noexcept {
    return untaken_.load(std::memory_order_relaxed) + (facts_.drops_taken ? read_stats().oerrors : 0);
  }

  /// Stops and closes the port, keeping the last counters. No queue may be polled after that.
  void close() noexcept;

 private:
  rte_eth_stats read_stats() noexcept;
  std::optional<std::uint64_t> kernel_drops(std::uint16_t queue) noexcept;

  std::uint16_t id_;
  std::uint16_t queues_;
  DriverFacts facts_;
  std::atomic<bool> running_ = false;
  bool counts_queues_ = false;
  std::mutex mutex_;
  rte_eth_stats last_{};
  FrameLimits limits_;
  std::atomic<std::uint64_t> joined_{0};
  std::atomic<std::uint64_t> untaken_{0};
  std::optional<LinkState> link_;
  std::vector<std::optional<SocketDrops>> drops_;
  std::vector<rte_mempool*> pools_;
  DeviceRings rings_;  ///< only for a net_ring device
};

}  // namespace parshall::dpdk
