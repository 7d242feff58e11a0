// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "traffic/frame_sizes.hpp"

namespace parshall {

enum class ProtocolMix : std::uint8_t {
  mix,  ///< 75 % of the flows TCP, 25 % UDP
  tcp,
  udp,
  connections,  ///< TCP; flows 2i and 2i + 1 are the two directions of a lasting connection (Conversations)
  sessions,     ///< TCP; likewise complete connections, from SYN to FIN (Sessions)
};

enum class AddressKind : std::uint8_t {
  random,     ///< any address, including some that routers drop: 127.0.0.0/8, multicast
  benchmark,  ///< reserved for tests of devices (BenchmarkAddresses)
};

using MacAddress = std::array<std::uint8_t, 6>;

/// Features of built-in traffic that not every program can play, as they are more than frames in memory.
struct TrafficAbilities {
  bool pace = false;    ///< packets in real time
  bool flood = false;   ///< SYNs of flows without a number
  bool trains = false;  ///< flows that never return
};

/// Built-in traffic, as `-g` spells it: "flows=65536,size=64,dist=zipf:1.1,protocol=mix,ipv6=0.1,seed=1".
struct TrafficSpec {
  std::uint64_t flows = 65536;
  FrameSizes sizes = 64;            ///< with the FCS, which captures omit; sizes too short for headers are increased
  double zipf_exponent = 0;         ///< 0: all flows equally often
  double last_zipf_exponent = 0;    ///< the exponent changes to this, evenly over the packets; 0: it does not
  bool ladder = false;              ///< the k-th flow is k times slower than the first, evenly spaced
  std::uint32_t train_packets = 0;  ///< packets of each flow, which never returns (FlowTrains); 0: flows last
  ProtocolMix protocol = ProtocolMix::mix;
  double ipv6_share = 0;  ///< fraction of the flows
  double resend_share =
      0;  ///< mean fraction of the packets of connections (or of sessions' data); flows differ, exponentially
  double flood_share = 0;  ///< fraction of packets replaced by SYNs, each of its own flow (SynFlood)
  std::uint64_t seed = 1;
  std::uint64_t packets = 0;     ///< packets in memory before they repeat; 0: at least 2^20 and 4 per flow
  double rate_pps = 14'880'952;  ///< sets the packets' time stamps (10 GbE of 64-byte frames), not the pace
  double pace_pps = 0;           ///< packets come in real time, and are missed if not polled; 0: they wait
  double swing_ms = 0;           ///< period in which the pace swings from 0 to pace_pps and back; 0: no swing
  std::uint64_t queue = 0;       ///< with a pace: packets that can wait, more are missed; 0: kPacedQueue

  AddressKind addresses = AddressKind::random;
  std::uint16_t outer_vlan = 0;  ///< VLAN of an outer 802.1ad tag; 0: no such tag
  std::uint16_t vlan = 0;        ///< VLAN of an 802.1Q tag; 0: no tag
  MacAddress source_mac{2, 0, 0, 0, 0, 1}, destination_mac{2, 0, 0, 0, 0, 2};
  bool trailer = false;  ///< TCP or UDP payloads end in a Trailer with the flow's number; not available in -g

  static constexpr std::uint64_t kPacedQueue = 4096;
  static constexpr TrafficAbilities kAll{.pace = true, .flood = true, .trains = true};

  /// Parses a spec. `can` has the abilities of the player.
  static Result<TrafficSpec> parse(std::string_view text, TrafficAbilities can = {});

  /// Returns whether flows 2i and 2i + 1 are the two directions of a connection.
  bool connected() const noexcept { return protocol >= ProtocolMix::connections; }
};

/// Returns a contradiction in the spec, if there is one.
std::optional<Error> conflict_of(const TrafficSpec& spec);

/// Setting of `-g`: one NAME=VALUE.
struct TrafficSetting {
  std::string_view name;
  std::string_view values;  ///< LEAST..MOST of a number, or words; capitals stand for what a user chooses
  std::string_view help;
  bool (*set)(TrafficSpec& spec, std::string_view value);  ///< returns false for an invalid value
};

std::span<const TrafficSetting> traffic_settings() noexcept;
std::string names_of_traffic_settings();  ///< "flows, size, ..."

}  // namespace parshall
