// SPDX-License-Identifier: Apache-2.0
#include "pipeline/capture/dpdk/queue_sink.hpp"

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_pause.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "pipeline/capture/dpdk/eal.hpp"

namespace parshall::dpdk {
namespace {

constexpr std::uint64_t kPatienceMs = 100;
constexpr std::chrono::seconds kLastPatience{1};  ///< no other work waits at that point

}  // namespace

void QueueSink::free_from(std::size_t first) noexcept {
  if (first < reserved_) ::rte_pktmbuf_free_bulk(&mbufs_[first], static_cast<unsigned>(reserved_ - first));
  reserved_ = 0;
}

std::size_t QueueSink::reserve(std::span<OutFrame> frames) noexcept {
  register_this_thread();
  free_from(0);
  const std::size_t count = std::min(frames.size(), kMostFrames);
  if (::rte_pktmbuf_alloc_bulk(pool_, mbufs_.data(), static_cast<unsigned>(count)) != 0) return 0;
  reserved_ = count;
  for (std::size_t i = 0; i < count; ++i) {
    rte_mbuf& mbuf = *mbufs_[i];
    mbuf.data_len = static_cast<std::uint16_t>(frames[i].bytes);
    mbuf.pkt_len = frames[i].bytes;
    frames[i].data = static_cast<std::uint8_t*>(mbuf.buf_addr) + mbuf.data_off;
  }
  return count;
}

/// Caches the answer for a millisecond, as asking takes as long as sending some frames.
bool QueueSink::is_up() noexcept {
  const std::uint64_t now = ::rte_rdtsc();
  if (now - asked_ticks_ < ::rte_get_tsc_hz() / 1000) return was_up_;
  asked_ticks_ = now;
  return was_up_ = port_->is_up();
}

std::size_t QueueSink::send(std::size_t count) noexcept {
  std::size_t sent = 0;
  // While the interface is down, net_af_packet would keep the frames and send them later.
  if (port_->running() && is_up()) {
    sent = ::rte_eth_tx_burst(port_id_, queue_, mbufs_.data(), static_cast<std::uint16_t>(count));
    if (sent < count && waits_) {
      const std::uint64_t patience = ::rte_get_tsc_hz() / 1000 * kPatienceMs;
      for (std::uint64_t since = ::rte_rdtsc(); sent < count && ::rte_rdtsc() - since < patience;) {
        const std::size_t more =
            ::rte_eth_tx_burst(port_id_, queue_, &mbufs_[sent], static_cast<std::uint16_t>(count - sent));
        sent += more;
        if (more != 0) since = ::rte_rdtsc();
        ::rte_pause();
      }
    }
  }
  free_from(sent);
  if (sent != 0 && !sent_any_ && port_->facts().takes_back) rings_ = MemifRings::find();
  sent_any_ |= sent != 0;
  return sent;
}

void QueueSink::flush() noexcept {
  using Clock = std::chrono::steady_clock;
  if (!rings_) return;
  if (auto anew = MemifRings::find()) rings_ = std::move(anew);  // the peer may have reconnected
  std::uint32_t now = rings_->waiting(queue_, is_server_), least = now;
  for (auto since = Clock::now(); now != 0 && port_->link_is_up() && Clock::now() - since < kLastPatience;) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    now = rings_->waiting(queue_, is_server_);
    if (now < least) since = Clock::now();  // the peer writes this number, so only a new minimum counts as progress
    least = std::min(least, now);
  }
  port_->note_untaken(now);
  rings_.reset();
}

}  // namespace parshall::dpdk
