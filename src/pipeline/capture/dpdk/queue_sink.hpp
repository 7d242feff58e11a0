// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <rte_mempool.h>

#include <array>
#include <memory>
#include <optional>

#include "pipeline/capture/dpdk/memif_rings.hpp"
#include "pipeline/capture/dpdk/port_state.hpp"
#include "pipeline/capture/frame_sink.hpp"

namespace parshall::dpdk {

/// One transmit queue of a port, with its own buffers.
///
/// Full: with `waits`, send() waits for room as long as the device takes frames at least every kPatienceMs. It drops
///       the remaining frames after that, while the device is down, or without `waits`. It notices up to a millisecond
///       late that the device went down.
/// Ends: flush() waits as long as a peer keeps taking frames from a ring that closes with the device. Frames that it
///       did not take count as dropped.
class QueueSink final : public FrameSink {
 public:
  static constexpr std::size_t kMostFrames = 256;

  /// `pool` belongs to the port; its buffers hold at most `longest_frame` bytes.
  QueueSink(std::shared_ptr<PortState> port, std::uint16_t queue, rte_mempool* pool, std::uint32_t longest_frame,
            bool waits, bool is_server)
      : port_(std::move(port)),
        port_id_(port_->id()),
        queue_(queue),
        pool_(pool),
        longest_frame_(longest_frame),
        waits_(waits),
        is_server_(is_server) {}
  QueueSink(const QueueSink&) = delete;
  QueueSink& operator=(const QueueSink&) = delete;
  ~QueueSink() override { free_from(0); }

  std::size_t reserve(std::span<OutFrame> frames) noexcept override;
  std::size_t send(std::size_t count) noexcept override;
  void flush() noexcept override;
  std::uint32_t longest_frame() const noexcept override { return longest_frame_; }
  std::uint32_t shortest_frame() const noexcept override { return kHeaderBytes; }
  std::optional<double> line_bps() const noexcept override { return port_->line_bps(); }

 private:
  static constexpr std::uint32_t kHeaderBytes = 14;  ///< Ethernet's: shorter frames are dropped silently

  void free_from(std::size_t first) noexcept;
  bool is_up() noexcept;

  std::shared_ptr<PortState> port_;
  std::uint16_t port_id_;
  std::uint16_t queue_;
  rte_mempool* pool_;
  std::uint32_t longest_frame_;
  bool waits_;
  bool is_server_;                   ///< true if it is a net_memif server
  std::optional<MemifRings> rings_;  ///< set after the first frame; empty if the process has several such devices
  bool sent_any_ = false;
  std::array<rte_mbuf*, kMostFrames> mbufs_;
  std::size_t reserved_ = 0;
  std::uint64_t asked_ticks_ = 0;  ///< when the state of the device was last asked for
  bool was_up_ = false;
};

}  // namespace parshall::dpdk
