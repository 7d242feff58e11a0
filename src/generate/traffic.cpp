// SPDX-License-Identifier: Apache-2.0
#include "generate/traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>

#include "base/random.hpp"
#include "generate/frame.hpp"

namespace parshall {
namespace {

constexpr std::uint32_t kFcsBytes = 4;
constexpr std::uint32_t kGap = 0x5555'5555;  // three of them and one go round TCP's sequence numbers
constexpr std::uint64_t kMaxFlows = 1ull << 28, kMaxPackets = 1ull << 30;
constexpr std::uint32_t kMostTrainPackets = 1u << 20;

struct FlowPlan {
  bool ipv6, tcp;
  std::uint64_t bits[3];  ///< addresses and ports
};

FlowPlan plan_flow(const TrafficSpec& spec, std::uint64_t flow) {
  if (spec.protocol == ProtocolMix::connections) flow &= ~std::uint64_t{1};
  SplitMix64 random(SplitMix64::mix(spec.seed) ^ SplitMix64::mix(flow + 1));
  FlowPlan plan{};
  plan.ipv6 = random.uniform() < spec.ipv6_share;
  plan.tcp = spec.protocol == ProtocolMix::tcp || spec.protocol == ProtocolMix::connections ||
             (spec.protocol == ProtocolMix::mix && flow % 4 != 3);
  // A bijection of the flow number in the source address keeps any two flows' five-tuples apart.
  plan.bits[0] = SplitMix64::mix(flow ^ spec.seed << 32);
  plan.bits[1] = random();
  plan.bits[2] = random();
  return plan;
}

/// Bijection of 32 bits: two rounds of xor-shift and odd multiplication.
std::uint32_t scramble(std::uint32_t x) {
  x = (x ^ x >> 16) * 0x7FEB352Du;
  x = (x ^ x >> 15) * 0x846CA68Bu;
  return x ^ x >> 16;
}

void write_frame(std::uint8_t* frame, std::uint32_t captured_bytes, const FlowPlan& plan, std::uint64_t flow,
                 std::uint64_t seed) {
  write_ethernet(frame, plan.ipv6 ? kEtherIpv6 : kEtherIpv4);
  std::uint8_t* const ip = frame + kEthernetBytes;
  const std::uint32_t ip_bytes = captured_bytes - 14;
  std::uint8_t* transport;
  if (plan.ipv6) {
    ip[0] = 0x60;
    put16(ip + 4, ip_bytes - 40);
    ip[6] = plan.tcp ? 6 : 17;
    ip[7] = 64;
    ip[8] = ip[24] = 0x20;  // 2001:db8::/32, the documentation prefix
    ip[9] = ip[25] = 0x01;
    ip[10] = ip[26] = 0x0D;
    ip[11] = ip[27] = 0xB8;
    std::memcpy(ip + 16, &plan.bits[0], 8);
    std::memcpy(ip + 32, &plan.bits[1], 8);
    transport = ip + 40;
  } else {
    ip[0] = 0x45;
    put16(ip + 2, ip_bytes);
    ip[8] = 64;
    ip[9] = plan.tcp ? 6 : 17;
    const std::uint32_t src = scramble(static_cast<std::uint32_t>(flow + seed));
    std::memcpy(ip + 12, &src, 4);
    std::memcpy(ip + 16, &plan.bits[1], 4);
    put16(ip + 10, header_checksum(ip));
    transport = ip + 20;
  }
  std::memcpy(transport, &plan.bits[2], 4);
  if (plan.tcp) {
    transport[12] = 5 << 4;
    transport[13] = 0x10;  // ACK
  } else {
    put16(transport + 4, ip_bytes - (plan.ipv6 ? 40 : 20));
  }
}

/// Makes packets of one-way flows those of connections: as often as each is called.
///
/// A round of packets is played over and over, so numbers go round once in it: by a gap at each third, none of which
/// goes so far that it looks like a step back, if both ends sent something since the one before. Other connections have
/// no data, and no numbers to go on.
class Conversations {
 public:
  /// `flow_of`: of all packets of the round; `others`: which of them are of no connection; none: all are.
  Conversations(const TrafficSpec& spec, std::span<const std::uint32_t> flow_of, const std::vector<bool>& others)
      : packets_(flow_of.size()), resend_share_(spec.resend_share), random_(~spec.seed), flows_(spec.flows + 1) {
    for (std::uint64_t i = 0; i < packets_; ++i)
      if (others.empty() || !others[i]) flows_[flow_of[i]].thirds |= 1u << third(i);
    if (resend_share_ > 0)
      for (Flow& flow : flows_) flow.resends = static_cast<float>(draw_resends());
  }

  /// The round's `at`-th packet.
  void write(std::uint8_t* frame, std::uint32_t captured_bytes, std::uint64_t number, std::uint64_t at) {
    std::uint8_t* const ip = frame + 14;
    const bool ipv6 = ip[0] >> 4 == 6;
    std::uint8_t* const transport = ip + (ipv6 ? 40 : 20);
    if ((number & 1) != 0) {
      const std::size_t bytes = ipv6 ? 16 : 4;
      std::uint8_t* const addresses = ip + (ipv6 ? 8 : 12);
      std::swap_ranges(addresses, addresses + bytes, addresses + bytes);
      std::swap_ranges(transport, transport + 2, transport + 2);
    }
    Flow &flow = flows_[number], &peer = flows_[number ^ 1];
    put16(transport + 14, 0xFFFF);  // window
    if (flow.thirds != kAllThirds || peer.thirds != kAllThirds) {
      leave_out_data(ip, ipv6);
      put32(transport + 4, flow.sent);
      return put32(transport + 8, peer.sent);
    }
    const std::uint32_t payload_bytes = captured_bytes - static_cast<std::uint32_t>(transport + 20 - frame);
    const bool again = flow.sent != 1 && flow.resends > 0 && random_.uniform() < flow.resends;
    if (!again) flow.sent += payload_bytes;
    put32(transport + 4, flow.sent - payload_bytes + third(at) * kGap);
    put32(transport + 8, peer.sent + third(at) * kGap);
  }

 private:
  static constexpr unsigned kAllThirds = 7;

  struct Flow {
    unsigned thirds = 0;     ///< of the round: bit i: it has packets in that one
    std::uint32_t sent = 1;  ///< its next sequence number, but for gaps
    float resends = 0;       ///< share of its packets that send again what the last one did
  };

  std::uint32_t third(std::uint64_t at) const { return static_cast<std::uint32_t>(3 * at / packets_); }

  /// The frame keeps its length: what comes behind the headers is padding.
  static void leave_out_data(std::uint8_t* ip, bool ipv6) {
    if (ipv6) return put16(ip + 4, 20);
    put16(ip + 2, 40);
    put16(ip + 10, 0);
    put16(ip + 10, header_checksum(ip));
  }

  double draw_resends() { return std::min(0.5, -std::log(1 - random_.uniform()) * resend_share_); }

  std::uint64_t packets_;
  double resend_share_;
  SplitMix64 random_;
  std::vector<Flow> flows_;
};

/// Which packets are the flood's.
std::vector<bool> plan_flood(const TrafficSpec& spec, std::uint64_t packets) {
  if (spec.flood_share == 0) return {};
  std::vector<bool> flood(packets);
  SplitMix64 random(SplitMix64::mix(~spec.seed));
  for (std::uint64_t i = 0; i < packets; ++i) flood[i] = random.uniform() < spec.flood_share;
  return flood;
}

/// Flow of every packet, in order.
std::vector<std::uint32_t> plan_packets(const TrafficSpec& spec, std::uint64_t packets) {
  std::vector<std::uint32_t> flow_of(packets);
  SplitMix64 random(spec.seed);
  if (spec.zipf_exponent > 0) {
    constexpr std::uint64_t kSteps = 64;
    const double change = spec.last_zipf_exponent > 0 ? spec.last_zipf_exponent - spec.zipf_exponent : 0;
    for (std::uint64_t step = 0, at = 0; step < kSteps; ++step) {
      const Zipf zipf(spec.zipf_exponent + change * static_cast<double>(step) / (kSteps - 1), spec.flows);
      for (; at < packets * (step + 1) / kSteps; ++at) flow_of[at] = static_cast<std::uint32_t>(zipf(random));
    }
  } else {
    for (std::uint64_t i = 0; i < packets; ++i) flow_of[i] = static_cast<std::uint32_t>(i % spec.flows);
    for (std::uint64_t i = packets; i > 1; --i) std::swap(flow_of[i - 1], flow_of[random.below(i)]);
  }
  return flow_of;
}

template <class T>
bool parse_number(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool set(TrafficSpec& spec, std::string_view name, std::string_view value) {
  if (name == "flows") return parse_number(value, spec.flows) && spec.flows >= 1 && spec.flows <= kMaxFlows;
  if (name == "size")
    return parse_number(value, spec.frame_bytes) && spec.frame_bytes >= 64 && spec.frame_bytes <= 9018;
  if (name == "packets") return parse_number(value, spec.packets) && spec.packets >= 1 && spec.packets <= kMaxPackets;
  if (name == "seed") return parse_number(value, spec.seed);
  if (name == "ipv6") return parse_number(value, spec.ipv6_share) && spec.ipv6_share >= 0 && spec.ipv6_share <= 1;
  if (name == "resend")
    return parse_number(value, spec.resend_share) && spec.resend_share >= 0 && spec.resend_share <= 0.5;
  if (name == "flood") return parse_number(value, spec.flood_share) && spec.flood_share >= 0 && spec.flood_share <= 1;
  if (name == "rate") return parse_number(value, spec.rate_pps) && spec.rate_pps >= 1 && spec.rate_pps <= 1e9;
  if (name == "pace") return parse_number(value, spec.pace_pps) && spec.pace_pps >= 1 && spec.pace_pps <= 1e9;
  if (name == "swing") return parse_number(value, spec.swing_ms) && spec.swing_ms >= 1 && spec.swing_ms <= 1e6;
  if (name == "queue") return parse_number(value, spec.queue) && spec.queue >= 1 && spec.queue <= 1 << 24;
  if (name == "protocol") {
    if (value == "mix")
      spec.protocol = ProtocolMix::mix;
    else if (value == "tcp")
      spec.protocol = ProtocolMix::tcp;
    else if (value == "udp")
      spec.protocol = ProtocolMix::udp;
    else if (value == "connections")
      spec.protocol = ProtocolMix::connections;
    else
      return false;
    return true;
  }
  if (name == "dist") {
    if (value == "uniform") return spec.zipf_exponent = 0, true;
    if (value.starts_with("trains:"))
      return parse_number(value.substr(7), spec.train_packets) && spec.train_packets >= 1 &&
             spec.train_packets <= kMostTrainPackets;
    if (!value.starts_with("zipf:")) return false;
    value.remove_prefix(5);
    const auto exponent = [](std::string_view text, double& into) {
      return parse_number(text, into) && into > 0 && into <= 10;
    };
    std::size_t to = value.find('-');
    if (to != value.npos && to != 0 && (value[to - 1] == 'e' || value[to - 1] == 'E')) to = value.find('-', to + 1);
    return exponent(value.substr(0, to), spec.zipf_exponent) &&
           (to == value.npos || exponent(value.substr(to + 1), spec.last_zipf_exponent));
  }
  return false;
}

}  // namespace

Result<TrafficSpec> TrafficSpec::parse(std::string_view text, Pacing pacing) {
  TrafficSpec spec;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    const std::size_t equals = item.find('=');
    if (equals == item.npos || !set(spec, item.substr(0, equals), item.substr(equals + 1)))
      return Error{
          fmt::format("built-in traffic does not understand \"{}\"; it takes flows=1..{}, size=64..9018, dist=uniform "
                      "or dist=zipf:EXPONENT[-LAST] or dist=trains:PACKETS, "
                      "protocol=mix, tcp, udp or connections, ipv6=0..1, resend=0..0.5, packets=1..{}, rate=PPS, "
                      "pace=PPS, swing=MS, flood=0..1, "
                      "queue=PACKETS "
                      "and seed=N, separated by commas",
                      item, kMaxFlows, kMaxPackets)};
  }
  if (spec.resend_share != 0 && spec.protocol != ProtocolMix::connections)
    return Error{"built-in traffic: resend is of TCP data: take protocol=connections"};
  if (spec.train_packets != 0 && (spec.ipv6_share != 0 || spec.flood_share != 0 || spec.zipf_exponent != 0 ||
                                  spec.protocol == ProtocolMix::udp || spec.protocol == ProtocolMix::connections))
    return Error{"built-in traffic: trains are of TCP segments over IPv4: leave out ipv6, flood and protocol"};
  if (spec.train_packets != 0 && pacing == Pacing::refused)
    return Error{"built-in traffic: only watch and classify take trains: leave out dist=trains"};
  if (spec.flood_share != 0 && pacing == Pacing::refused)
    return Error{"built-in traffic: only watch takes a flood: leave out flood"};
  if (spec.pace_pps == 0 && (spec.swing_ms != 0 || spec.queue != 0))
    return Error{"built-in traffic: swing and queue are of packets that come at a pace=PPS"};
  if (spec.pace_pps != 0 && spec.rate_pps != TrafficSpec().rate_pps)
    return Error{"built-in traffic: at a pace, time stamps are of real time: leave out rate"};
  if (spec.pace_pps != 0 && pacing == Pacing::refused)
    return Error{"built-in traffic: only watch takes it at a pace: leave out pace"};
  return spec;
}

Result<Trace> Trace::make(const TrafficSpec& spec) {
  Trace trace;
  const std::uint32_t ipv6_minimum = 14 + 40 + 20;
  trace.captured_bytes_ = std::max(spec.frame_bytes - kFcsBytes, spec.ipv6_share > 0 ? ipv6_minimum : 0u);
  trace.stride_ = (trace.captured_bytes_ + 63) / 64 * 64;
  trace.rate_pps_ = spec.rate_pps;
  trace.flood_seed_ = SplitMix64::mix(spec.seed);
  const std::uint64_t packets = spec.packets != 0 ? spec.packets : std::max<std::uint64_t>(1 << 20, 4 * spec.flows);
  trace.packets_ = packets;
  if (spec.train_packets != 0) {
    trace.train_packets_ = spec.train_packets;
    trace.flows_together_ = spec.flows;
    trace.stride_ = 0;
    return trace;
  }
  try {
    trace.flow_of_ = plan_packets(spec, packets);
    trace.flood_ = plan_flood(spec, packets);
    trace.frames_ = HugeBuffer<std::uint8_t>(packets * trace.stride_);
  } catch (const std::bad_alloc&) {
    return Error{
        fmt::format("no memory for {} packets of built-in traffic ({} MB); ask for fewer with packets=N or flows=N",
                    packets, packets * trace.stride_ >> 20)};
  }
  const bool connected = spec.protocol == ProtocolMix::connections;
  std::optional<Conversations> conversations;
  if (connected) conversations.emplace(spec, trace.flow_of_, trace.flood_);
  for (std::uint64_t i = 0; i < packets; ++i) {
    if (trace.floods() && trace.is_flood(i)) continue;
    const std::uint32_t flow = trace.flow_of_[i];
    std::uint8_t* const frame = trace.frames_.data() + i * trace.stride_;
    write_frame(frame, trace.captured_bytes_, plan_flow(spec, flow), connected ? flow & ~1u : flow, spec.seed);
    if (conversations) conversations->write(frame, trace.captured_bytes_, flow, i);
  }
  return trace;
}

}  // namespace parshall
