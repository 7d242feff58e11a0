// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <string_view>

namespace parshall::dpdk {

/// What an RX time stamp in a packet counts, when the packet carries one.
enum class TimestampUnit { device_ticks, microseconds_since_1970 };

/// Which members of rte_eth_stats a driver fills. What it leaves at 0 must not be reported as 0.
struct DriverFacts {
  std::string_view name;
  bool counts_missed;   ///< imissed
  bool counts_errors;   ///< ierrors
  bool counts_no_mbuf;  ///< rx_nombuf
  bool waits;           ///< produces only when polled, so a slow reader loses nothing
  bool drops_taken;  ///< oerrors: frames that it took to send, and dropped; else it may be those that it did not take
  bool takes_back = false;  ///< with it goes what its peer has not yet taken
  TimestampUnit timestamp = TimestampUnit::device_ticks;
  bool hears_others = false;  ///< all interfaces, until its sockets are bound to theirs
};

/// Source: DPDK 22.11 drivers/net/*, the function behind stats_get of each.
inline constexpr std::array kDrivers{
    DriverFacts{"net_null", false, false, false, true, false},   // ipackets only; makes packets on demand
    DriverFacts{"net_ring", false, false, false, false, false},  // ipackets only; a full ring refuses its producer
    DriverFacts{"net_pcap", true, true, true, false, true, false,
                TimestampUnit::microseconds_since_1970},               // pcap_stats() for imissed
    DriverFacts{"net_memif", false, true, false, false, false, true},  // ierrors; a full ring refuses its producer
    DriverFacts{"net_tap", false, true, true, false, false},           // oerrors: refused; drops are the interface's
    DriverFacts{"net_af_packet", false, false, false, false, true, false, TimestampUnit::device_ticks,
                /*hears_others=*/true},  // no PACKET_STATISTICS before 24.07: we ask the socket
    DriverFacts{"net_af_xdp", false, false, false, false, false},  // rx_dropped without rx_ring_full: we ask the socket
    DriverFacts{"net_virtio", false, true, true, false, false},    // no register tells what the host dropped
    DriverFacts{"net_virtio_user", false, true, true, false, false},
    DriverFacts{"net_vhost", false, false, false, false, false},
};

/// A device that the table does not know: NICs fill all three (rte_eth_stats in rte_ethdev.h says what they mean),
/// of other virtual devices nothing is known.
inline DriverFacts facts_of(std::string_view driver, bool is_virtual) {
  const auto known = std::ranges::find(kDrivers, driver, &DriverFacts::name);
  if (known != kDrivers.end()) return *known;
  return {driver, !is_virtual, !is_virtual, !is_virtual, false, !is_virtual};
}

}  // namespace parshall::dpdk
