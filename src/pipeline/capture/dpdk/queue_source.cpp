// SPDX-License-Identifier: Apache-2.0
#include "pipeline/capture/dpdk/queue_source.hpp"

#include <rte_ethdev.h>
#include <rte_ether.h>
#include <rte_pause.h>

#include <algorithm>
#include <utility>

#include "pipeline/capture/dpdk/eal.hpp"
#include "pipeline/capture/stated_length.hpp"

namespace parshall::dpdk {
namespace {

/// Most packets that vector drivers deliver in one call, however many are requested.
constexpr unsigned kSmallestFullBurst = 32;
constexpr int kSendTries = 32;  ///< in a row, without sending anything
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
  Burst& burst = bursts_[half_];
  half_ ^= 1;
  burst.free();  // packets of two polls ago
  if (!port_->running() || out.empty()) return 0;

  receive(burst, std::min(out.size(), kMaxBurst));
  if (burst.count == 0 || state() == InputState::down) [[unlikely]]
    look(burst.count);
  if (burst.count == 0) return 0;
  const std::uint64_t now_ns = realtime_ns();
  if (stamping_.source == TimeSource::device_ticks && now_ns - clock_fed_ns_ >= kClockPeriodNs) feed_clock(now_ns);
  for (unsigned i = 0; i < burst.count; ++i) {
    const rte_mbuf& packet = *burst.mbufs[i];
    const bool hashed = packet.ol_flags & RTE_MBUF_F_RX_RSS_HASH;
    out[i] = {.data = static_cast<const std::uint8_t*>(packet.buf_addr) + packet.data_off,
              .time_ns = time_of(packet, now_ns),
              .captured_bytes = packet.data_len,  // the first segment of a chain, which has the headers
              .wire_bytes = packet.pkt_len,
              .nic_hash = hashed ? packet.hash.rss : 0,
              .link_type = LinkType::ethernet,
              .has_nic_hash = hashed};
    if (packet.data_len >= maybe_cut_) [[unlikely]] {
      out[i].wire_bytes = stated_length({out[i].data, packet.data_len});
      if (out[i].wire_bytes > packet.data_len) port_->note_joined();
    }
  }
  return burst.count;
}

/// Packets received before the interface disappeared can still be polled, so only an empty poll after that ends the
/// source.
void QueueSource::look(unsigned received) noexcept {
  exhausted_ = received == 0 && (ends_ || state() == InputState::gone);
  if (watch_) watch_->look();
}

std::optional<Error> QueueSource::damage() const {
  return state() == InputState::gone ? std::optional(interface_gone(port_->link()->name())) : std::nullopt;
}

void QueueSource::join(QueueSource& a, QueueSource& b) {
  const auto exit = [](const QueueSource& from, const QueueSource& to) {
    FrameLimits limits = to.port_->limits();
    limits.maybe_cut = from.port_->limits().maybe_cut;
    return Exit{to.port_, to.port_id_, to.queue_, limits};
  };
  a.exit_ = exit(a, b);
  b.exit_ = exit(b, a);
}

/// The kernel lets a frame with a VLAN tag exceed the interface's MTU.
bool QueueSource::Exit::fits(const rte_mbuf& frame) const noexcept {
  const auto* const header = rte_pktmbuf_mtod(&frame, const rte_ether_hdr*);
  const bool tagged = frame.data_len >= sizeof *header && header->ether_type == rte_cpu_to_be_16(RTE_ETHER_TYPE_VLAN);
  return frame.pkt_len - (tagged ? sizeof(rte_vlan_hdr) : 0) <= limits.longest_sent &&
         frame.pkt_len < limits.maybe_cut && (frame.nb_segs == 1 || !limits.in_one_piece);
}

std::uint8_t* QueueSource::frame(std::size_t i) noexcept { return rte_pktmbuf_mtod(latest().mbufs[i], std::uint8_t*); }

ForwardCounts QueueSource::send(std::size_t count) noexcept {
  Burst& burst = latest();
  std::array<rte_mbuf*, kMaxBurst> going;
  std::size_t fit = 0, at = 0, sent = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (exit_->fits(*burst.mbufs[i])) going[fit++] = std::exchange(burst.mbufs[i], nullptr);
  // While the interface is down, net_af_packet would keep the frames and send them later.
  if (exit_->port->running() && exit_->port->is_up()) {
    bool passed_over = false;
    for (int tries = 0; at < fit;) {
      const unsigned taken =
          ::rte_eth_tx_burst(exit_->id, exit_->queue, &going[at], static_cast<std::uint16_t>(fit - at));
      at += taken;
      sent += taken;
      if (taken != 0) {
        tries = 0;
        passed_over = false;
      } else if (++tries < kSendTries) {
        ::rte_pause();
      } else if (passed_over) {
        break;  // the queue is full
      } else {
        ::rte_pktmbuf_free(going[at++]);  // a frame that the driver never takes must not block those behind it
        passed_over = true;
        tries = 0;
      }
    }
  }
  if (at < fit) ::rte_pktmbuf_free_bulk(&going[at], static_cast<unsigned>(fit - at));
  return {.sent = sent, .too_long = count - fit, .refused = fit - sent};
}

inline std::uint64_t QueueSource::time_of(const rte_mbuf& packet, std::uint64_t now_ns) noexcept {
  if (stamping_.source == TimeSource::clock || !(packet.ol_flags & stamping_.valid_flag)) return now_ns;
  const std::uint64_t stamp = *RTE_MBUF_DYNFIELD(&packet, stamping_.field_offset, const std::uint64_t*);
  switch (stamping_.source) {
    case TimeSource::microseconds_since_1970:
      return stamp * 1000;
    case TimeSource::nanoseconds_since_1970:
      return stamp;
    case TimeSource::device_ticks:
      return stamping_.ticks.time_ns(stamp);
    case TimeSource::clock:
      break;
  }
  return now_ns;
}

/// Returns the time, minus a margin for packets that wait in the queue after the device or the kernel stamped them.
std::uint64_t QueueSource::now_ns() noexcept {
  constexpr std::uint64_t kMarginNs = 1'000'000;
  if (ends_ || stamping_.source == TimeSource::microseconds_since_1970) return 0;
  return realtime_ns() - (stamping_.source == TimeSource::clock ? 0 : kMarginNs);
}

void QueueSource::feed_clock(std::uint64_t now_ns) noexcept {
  clock_fed_ns_ = now_ns;
  ClockPair pair;
  if (::rte_eth_read_clock(port_id_, &pair.ticks) != 0) return;
  pair.time_ns = realtime_ns();
  stamping_.ticks.feed(pair);
}

}  // namespace parshall::dpdk
