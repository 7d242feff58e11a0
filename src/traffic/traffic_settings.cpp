// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <type_traits>
#include <utility>

#include "traffic/read_number.hpp"
#include "traffic/traffic_spec.hpp"

namespace parshall {
namespace {

template <auto Member, std::uint64_t kLeast, std::uint64_t kMost>
bool number(TrafficSpec& spec, std::string_view text) {
  auto& value = spec.*Member;
  using Value = std::remove_reference_t<decltype(value)>;
  return read_number(text, value) && value >= static_cast<Value>(kLeast) && value <= static_cast<Value>(kMost);
}

bool resend(TrafficSpec& spec, std::string_view text) {
  return number<&TrafficSpec::resend_share, 0, 1>(spec, text) && spec.resend_share <= 0.5;
}

bool exponent(std::string_view text, double& value) { return read_number(text, value) && value > 0 && value <= 10; }

bool sizes(TrafficSpec& spec, std::string_view text) {
  const auto sizes = FrameSizes::parse(text);
  if (sizes) spec.sizes = *sizes;
  return sizes.has_value();
}

/// Parses EXPONENT or EXPONENT-LAST.
bool exponents(TrafficSpec& spec, std::string_view text) {
  std::size_t to = text.find('-');
  if (to != text.npos && to != 0 && (text[to - 1] == 'e' || text[to - 1] == 'E')) to = text.find('-', to + 1);
  return exponent(text.substr(0, to), spec.zipf_exponent) &&
         (to == text.npos || exponent(text.substr(to + 1), spec.last_zipf_exponent));
}

bool distribution(TrafficSpec& spec, std::string_view text) {
  const std::string_view name = text.substr(0, text.find(':'));
  const std::string_view rest = text.substr(std::min(text.size(), name.size() + 1));
  if (name == "zipf") return exponents(spec, rest);
  if (name == "trains") return number<&TrafficSpec::train_packets, 1, 1 << 20>(spec, rest);
  if (text == "ladder") return spec.ladder = true;
  return text == "uniform";
}

/// Sets `value` to the one that a name stands for.
template <class T, std::size_t N>
bool choose(const std::pair<std::string_view, T> (&known)[N], std::string_view name, T& value) {
  const auto* const found = std::ranges::find(known, name, &std::pair<std::string_view, T>::first);
  if (found == std::end(known)) return false;
  value = found->second;
  return true;
}

bool protocol(TrafficSpec& spec, std::string_view text) {
  constexpr std::pair<std::string_view, ProtocolMix> kMixes[] = {{"mix", ProtocolMix::mix},
                                                                 {"tcp", ProtocolMix::tcp},
                                                                 {"udp", ProtocolMix::udp},
                                                                 {"connections", ProtocolMix::connections},
                                                                 {"sessions", ProtocolMix::sessions}};
  return choose(kMixes, text, spec.protocol);
}

bool addresses(TrafficSpec& spec, std::string_view text) {
  constexpr std::pair<std::string_view, AddressKind> kKinds[] = {{"random", AddressKind::random},
                                                                 {"benchmark", AddressKind::benchmark}};
  return choose(kKinds, text, spec.addresses);
}

/// Parses VLAN or OUTER.VLAN.
bool vlan(TrafficSpec& spec, std::string_view text) {
  const auto read = [](std::string_view number, std::uint16_t& value) {
    return read_number(number, value) && value >= 1 && value <= 4094;  // 0 and 4095 are not VLANs
  };
  const std::size_t dot = text.find('.');
  return (dot == text.npos || read(text.substr(0, dot), spec.outer_vlan)) &&
         read(dot == text.npos ? text : text.substr(dot + 1), spec.vlan);
}

template <auto Member>
bool mac(TrafficSpec& spec, std::string_view text) {
  constexpr std::size_t kDigits = 2;
  MacAddress& address = spec.*Member;
  if (text.size() != address.size() * (kDigits + 1) - 1) return false;
  for (std::size_t i = 0; i < address.size(); ++i) {
    const std::string_view digits = text.substr(i * (kDigits + 1), kDigits);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + kDigits, address[i], 16);
    if (error != std::errc() || end != digits.data() + kDigits) return false;
    if (i + 1 < address.size() && text[i * (kDigits + 1) + kDigits] != ':') return false;
  }
  return true;
}

constexpr TrafficSetting kSettings[] = {
    {"flows", "1..268435456", "flows that exist at the same time (65536)", number<&TrafficSpec::flows, 1, 1 << 28>},
    {"size", "64..9018|imix|LEAST-MOST|SIZE:WEIGHT+...",
     "frame size in bytes with FCS, or more if the headers need it (64); imix: 64:7+570:4+1518:1; a range: all sizes "
     "equally often; a mix of sizes",
     sizes},
    {"dist", "uniform|zipf:EXPONENT[-LAST]|ladder|trains:PACKETS",
     "packets per flow: equal (the default); Zipf, with an exponent that changes to LAST; ladder: flow k has 1/k of "
     "the packets of flow 1; trains: every flow is new and has PACKETS packets",
     distribution},
    {"protocol", "mix|tcp|udp|connections|sessions",
     "mix: 3/4 TCP and 1/4 UDP (the default); TCP; UDP; connections: TCP, where flows 2i and 2i+1 acknowledge each "
     "other's data; sessions: the same, from SYN to FIN",
     protocol},
    {"ipv6", "0..1", "fraction of flows that use IPv6", number<&TrafficSpec::ipv6_share, 0, 1>},
    {"resend", "0..0.5", "fraction of the packets of connections, or of the data of sessions, that is retransmitted",
     resend},
    {"flood", "0..1", "fraction of packets that belong to a SYN flood", number<&TrafficSpec::flood_share, 0, 1>},
    {"addresses", "random|benchmark",
     "random: any (the default); benchmark: 198.18.0.0/15 and 2001:2::/48, reserved for device tests", addresses},
    {"vlan", "VLAN|OUTER.VLAN", "VLAN identifiers from 1 to 4094: an 802.1Q tag, optionally after an 802.1ad tag",
     vlan},
    {"src-mac", "XX:XX:XX:XX:XX:XX", "source MAC address of all frames (02:00:00:00:00:01)",
     mac<&TrafficSpec::source_mac>},
    {"dst-mac", "XX:XX:XX:XX:XX:XX", "destination MAC address of all frames (02:00:00:00:00:02)",
     mac<&TrafficSpec::destination_mac>},
    {"packets", "1..1073741824", "packets in memory before the sequence repeats (at least 2^20, and 4 per flow)",
     number<&TrafficSpec::packets, 1, 1 << 30>},
    {"rate", "1..1e9", "packets per second by their time stamps (14880952)",
     number<&TrafficSpec::rate_pps, 1, 1'000'000'000>},
    {"pace", "1..1e9", "packets per second in real time; packets that are not read in time are lost",
     number<&TrafficSpec::pace_pps, 1, 1'000'000'000>},
    {"swing", "1..1e6", "time in ms in which the pace swings from 0 to its maximum and back",
     number<&TrafficSpec::swing_ms, 1, 1'000'000>},
    {"queue", "1..16777216", "capacity of the queue in packets, with pace (4096)",
     number<&TrafficSpec::queue, 1, 1 << 24>},
    {"seed", "0..18446744073709551615", "seed of all random choices (1)", number<&TrafficSpec::seed, 0, ~0ull>},
};

}  // namespace

std::span<const TrafficSetting> traffic_settings() noexcept { return kSettings; }

}  // namespace parshall
