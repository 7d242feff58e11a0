// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <string_view>

namespace parshall::dpdk {

/// Unit of a packet's RX time stamp, if it has one.
enum class TimestampUnit { device_ticks, microseconds_since_1970, nanoseconds_since_1970 };

/// Says which members of rte_eth_stats a driver fills, and other properties. A member left at 0 must not be reported as
/// 0.
struct DriverFacts {
  std::string_view name;
  bool counts_missed;   ///< imissed
  bool counts_errors;   ///< ierrors
  bool counts_no_mbuf;  ///< rx_nombuf
  bool waits;           ///< produces packets only when polled, so a slow reader loses none
  bool drops_taken;     ///< true if oerrors counts frames accepted for sending and then dropped; otherwise it may count
                        ///< frames refused
  bool takes_back = false;  ///< frames that its peer has not yet taken are lost with it
  TimestampUnit timestamp = TimestampUnit::device_ticks;
  bool hears_others = false;  ///< receives from all interfaces until its sockets are bound
};

/// Source: DPDK 22.11 drivers/net/*, the function behind stats_get of each; net_af_packet also of 24.11.
inline constexpr std::array kDrivers{
    DriverFacts{"net_null", false, false, false, true, false},   // ipackets only; makes packets on demand
    DriverFacts{"net_ring", false, false, false, false, false},  // ipackets only; a full ring refuses its producer
    DriverFacts{"net_pcap", true, true, true, false, true, false,
                TimestampUnit::microseconds_since_1970},               // pcap_stats() for imissed
    DriverFacts{"net_memif", false, true, false, false, false, true},  // ierrors; a full ring refuses its producer
    DriverFacts{"net_tap", false, true, true, false, false},           // oerrors: refused; drops are the interface's
    // It reads no PACKET_STATISTICS: ask the socket. That of 24.11 also passes on the kernel's time stamps.
    DriverFacts{"net_af_packet", false, false, false, false, true, false, TimestampUnit::nanoseconds_since_1970,
                /*hears_others=*/true},
    DriverFacts{"net_af_xdp", false, false, false, false, false},  // rx_dropped without rx_ring_full: ask the socket
    DriverFacts{"net_virtio", false, true, true, false, false},    // no register tells what the host dropped
    DriverFacts{"net_virtio_user", false, true, true, false, false},
    DriverFacts{"net_vhost", false, false, false, false, false},
};

/// Returns the facts of a driver. Unknown NICs are taken to fill all three counters (see rte_eth_stats in
/// rte_ethdev.h); nothing is assumed about unknown virtual devices.
inline DriverFacts facts_of(std::string_view driver, bool is_virtual) {
  const auto known = std::ranges::find(kDrivers, driver, &DriverFacts::name);
  if (known != kDrivers.end()) return *known;
  return {driver, !is_virtual, !is_virtual, !is_virtual, false, !is_virtual};
}

}  // namespace parshall::dpdk
