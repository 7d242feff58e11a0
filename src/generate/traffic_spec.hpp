// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "generate/frame_sizes.hpp"

namespace parshall {

enum class ProtocolMix : std::uint8_t {
  mix,  ///< 75 % of the flows TCP, 25 % UDP
  tcp,
  udp,
  connections,  ///< TCP; flows 2i and 2i + 1 are the two directions of one connection that goes on (Conversations)
  sessions,     ///< TCP; likewise of whole ones, from SYN to FIN (Sessions)
};

enum class AddressKind : std::uint8_t {
  random,     ///< of all there are, among them some that routers drop: 127.0.0.0/8, multicast
  benchmark,  ///< set aside for tests of devices (BenchmarkAddresses)
};

using MacAddress = std::array<std::uint8_t, 6>;

/// What of built-in traffic not every program can play: it is more than frames that wait in memory.
struct TrafficAbilities {
  bool pace = false;    ///< packets in real time
  bool flood = false;   ///< SYNs of flows that have no number
  bool trains = false;  ///< flows that never come again
};

/// Built-in traffic, as `-g` spells it: "flows=65536,size=64,dist=zipf:1.1,protocol=mix,ipv6=0.1,seed=1".
struct TrafficSpec {
  std::uint64_t flows = 65536;
  FrameSizes sizes = 64;          ///< with the FCS, which captures do not hold; those too short for headers are longer
  double zipf_exponent = 0;       ///< 0: every flow equally often
  double last_zipf_exponent = 0;  ///< from the first one to this, evenly over the packets; 0: the same
  bool ladder = false;            ///< the k-th flow is k times slower than the first, and evenly so
  std::uint32_t train_packets = 0;  ///< of each flow, which is never seen again (FlowTrains); 0: flows go on
  ProtocolMix protocol = ProtocolMix::mix;
  double ipv6_share = 0;  ///< of the flows
  double resend_share =
      0;  ///< of the packets of connections, on average; flows differ, exponentially; of sessions' data
  double flood_share = 0;  ///< of the packets: SYNs in the place of others, each of a flow of its own (SynFlood)
  std::uint64_t seed = 1;
  std::uint64_t packets = 0;     ///< in memory, before they repeat; 0: at least 2^20 and 4 per flow
  double rate_pps = 14'880'952;  ///< sets the packets' time stamps (10 GbE of 64-byte frames), not the pace
  double pace_pps = 0;           ///< packets come in real time, and are missed where nobody takes them; 0: they wait
  double swing_ms = 0;           ///< the pace swings from 0 to pace_pps and back in this time; 0: it does not
  std::uint64_t queue = 0;       ///< packets that wait where there is a pace, more are missed; 0: kPacedQueue

  AddressKind addresses = AddressKind::random;
  std::uint16_t outer_vlan = 0;  ///< VLAN of an 802.1ad tag before the other one; 0: no such tag
  std::uint16_t vlan = 0;        ///< of an 802.1Q tag; 0: no tag
  MacAddress source_mac{2, 0, 0, 0, 0, 1}, destination_mac{2, 0, 0, 0, 0, 2};
  bool trailer = false;  ///< TCP or UDP payloads end in a Trailer of the flow's number; -g has no word for it

  static constexpr std::uint64_t kPacedQueue = 4096;
  static constexpr TrafficAbilities kAll{.pace = true, .flood = true, .trains = true};

  /// `can`: what who plays it can play.
  static Result<TrafficSpec> parse(std::string_view text, TrafficAbilities can = {});

  /// Flows 2i and 2i + 1 are the two directions of a connection.
  bool connected() const noexcept { return protocol >= ProtocolMix::connections; }
};

/// What in it does not go together.
std::optional<Error> conflict_of(const TrafficSpec& spec);

/// One NAME=VALUE of `-g`.
struct TrafficSetting {
  std::string_view name;
  std::string_view values;  ///< LEAST..MOST of a number, or words; what a user chooses is in capitals
  std::string_view help;
  bool (*set)(TrafficSpec& spec, std::string_view value);  ///< false: it is no such value
};

std::span<const TrafficSetting> traffic_settings() noexcept;
std::string names_of_traffic_settings();  ///< "flows, size, ..."

}  // namespace parshall
