// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "generate/read_number.hpp"
#include "generate/traffic_spec.hpp"

namespace parshall {
namespace {

template <auto Member, auto kLeast, auto kMost>
bool number(TrafficSpec& spec, std::string_view text) {
  auto& value = spec.*Member;
  return read_number(text, value) && value >= kLeast && value <= kMost;
}

bool exponent(std::string_view text, double& value) { return read_number(text, value) && value > 0 && value <= 10; }

bool sizes(TrafficSpec& spec, std::string_view text) {
  auto sizes = FrameSizes::parse(text);
  if (sizes) spec.sizes = *std::move(sizes);
  return sizes.has_value();
}

/// EXPONENT or EXPONENT-LAST.
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
  if (name == "trains") return number<&TrafficSpec::train_packets, 1u, 1u << 20>(spec, rest);
  return text == "uniform";
}

bool protocol(TrafficSpec& spec, std::string_view text) {
  constexpr struct {
    std::string_view name;
    ProtocolMix mix;
  } kMixes[] = {{"mix", ProtocolMix::mix},
                {"tcp", ProtocolMix::tcp},
                {"udp", ProtocolMix::udp},
                {"connections", ProtocolMix::connections}};
  const auto* const mix = std::ranges::find(kMixes, text, [](const auto& known) { return known.name; });
  if (mix == std::end(kMixes)) return false;
  spec.protocol = mix->mix;
  return true;
}

constexpr TrafficSetting kSettings[] = {
    {"flows", "1..268435456", "flows that go on, or that come together (dist=trains)",
     number<&TrafficSpec::flows, 1ull, 1ull << 28>},
    {"size", "64..9018|imix|LEAST-MOST|SIZE:WEIGHT+...",
     "bytes of a frame with its FCS, as many more as its headers need; 64:7+570:4+1518:1; each size as often; a mix",
     sizes},
    {"dist", "uniform|zipf:EXPONENT[-LAST]|trains:PACKETS",
     "which flow a packet is of: each as often; Zipf, its exponent going to LAST; flows of so many packets, each new",
     distribution},
    {"protocol", "mix|tcp|udp|connections",
     "3/4 TCP and 1/4 UDP; TCP; UDP; TCP whose flows 2i and 2i+1 acknowledge each other's data", protocol},
    {"ipv6", "0..1", "share of the flows that is IPv6", number<&TrafficSpec::ipv6_share, 0, 1>},
    {"resend", "0..0.5", "share of the packets of connections that is sent again",
     number<&TrafficSpec::resend_share, 0, 0.5>},
    {"flood", "0..1", "share of the packets that is a SYN flood", number<&TrafficSpec::flood_share, 0, 1>},
    {"packets", "1..1073741824", "packets in memory, before they repeat (at least 2^20, and 4 of a flow)",
     number<&TrafficSpec::packets, 1ull, 1ull << 30>},
    {"rate", "1..1e9", "packets per second by their time stamps (14880952)", number<&TrafficSpec::rate_pps, 1, 1e9>},
    {"pace", "1..1e9", "packets per second in real time: what nobody takes is missed",
     number<&TrafficSpec::pace_pps, 1, 1e9>},
    {"swing", "1..1e6", "ms in which the pace swings from 0 to its highest and back",
     number<&TrafficSpec::swing_ms, 1, 1e6>},
    {"queue", "1..16777216", "packets that wait where there is a pace (4096)",
     number<&TrafficSpec::queue, 1u, 1u << 24>},
    {"seed", "0..18446744073709551615", "what is random is the same for the same seed (1)",
     number<&TrafficSpec::seed, 0u, ~0ull>},
};

}  // namespace

std::span<const TrafficSetting> traffic_settings() noexcept { return kSettings; }

}  // namespace parshall
