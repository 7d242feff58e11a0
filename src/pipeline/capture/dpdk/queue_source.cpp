// SPDX-License-Identifier: Apache-2.0
#include "pipeline/capture/dpdk/queue_source.hpp"

#include <rte_ethdev.h>

#include <algorithm>

#include "pipeline/capture/dpdk/eal.hpp"

namespace parshall::dpdk {
namespace {

/// Vector drivers deliver at most this many a call, however many are asked for.
constexpr unsigned kSmallestFullBurst = 32;
constexpr std::uint64_t kClockPeriodNs = 1'000'000'000;

}  // namespace

QueueSource::~QueueSource() {
  for (Burst& burst : bursts_) burst.free();
}

void QueueSource::Burst::free() noexcept {
  if (count > 0) ::rte_pktmbuf_free_bulk(mbufs.data(), count);
  count = 0;
}

void QueueSource::receive(Burst& burst, std::size_t wanted) noexcept {
  while (burst.count < wanted) {
    const auto room = static_cast<std::uint16_t>(wanted - burst.count);
    const unsigned got = ::rte_eth_rx_burst(port_id_, queue_, burst.mbufs.data() + burst.count, room);
    burst.count += got;
    if (got < std::min<unsigned>(room, kSmallestFullBurst)) return;
  }
}

std::size_t QueueSource::poll(std::span<RawPacket> out) noexcept {
  register_this_thread();
  Burst& burst = bursts_[turn_];
  turn_ ^= 1;
  burst.free();  // of two polls ago
  if (!port_->running() || out.empty()) return 0;

  receive(burst, std::min(out.size(), kMaxBurst));
  if (burst.count == 0) {
    exhausted_ = ends_;
    return 0;
  }
  const std::uint64_t now_ns = realtime_ns();
  if (stamping_.source == TimeSource::device_ticks && now_ns - clock_fed_ns_ >= kClockPeriodNs) feed_clock(now_ns);
  for (unsigned i = 0; i < burst.count; ++i) {
    const rte_mbuf& packet = *burst.mbufs[i];
    const bool hashed = packet.ol_flags & RTE_MBUF_F_RX_RSS_HASH;
    out[i] = {.data = static_cast<const std::uint8_t*>(packet.buf_addr) + packet.data_off,
              .time_ns = time_of(packet, now_ns),
              .captured_bytes = packet.data_len,  // of a chain the first segment: the headers are there
              .wire_bytes = packet.pkt_len,
              .nic_hash = hashed ? packet.hash.rss : 0,
              .link_type = LinkType::ethernet,
              .has_nic_hash = hashed};
  }
  return burst.count;
}

inline std::uint64_t QueueSource::time_of(const rte_mbuf& packet, std::uint64_t now_ns) noexcept {
  if (stamping_.source == TimeSource::clock || !(packet.ol_flags & stamping_.valid_flag)) return now_ns;
  const std::uint64_t stamp = *RTE_MBUF_DYNFIELD(&packet, stamping_.field_offset, const std::uint64_t*);
  switch (stamping_.source) {
    case TimeSource::microseconds_since_1970:
      return stamp * 1000;
    case TimeSource::device_ticks:
      return stamping_.ticks.time_ns(stamp);
    case TimeSource::clock:
      break;
  }
  return now_ns;
}

/// Packets stamped by the device may wait in the queue for as long as the margin is.
std::uint64_t QueueSource::now_ns() noexcept {
  constexpr std::uint64_t kMarginNs = 1'000'000;
  if (ends_ || stamping_.source == TimeSource::microseconds_since_1970) return 0;
  return realtime_ns() - (stamping_.source == TimeSource::device_ticks ? kMarginNs : 0);
}

void QueueSource::feed_clock(std::uint64_t now_ns) noexcept {
  clock_fed_ns_ = now_ns;
  ClockPair pair;
  if (::rte_eth_read_clock(port_id_, &pair.ticks) != 0) return;
  pair.time_ns = realtime_ns();
  stamping_.ticks.feed(pair);
}

}  // namespace parshall::dpdk
