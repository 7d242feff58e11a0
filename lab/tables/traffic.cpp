// SPDX-License-Identifier: Apache-2.0
#include "lab/tables/traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/random.hpp"
#include "pipeline/capture/pcap_file.hpp"
#include "pipeline/decode/decode.hpp"
#include "pipeline/flow/key_hash.hpp"
#include "traffic/traffic.hpp"

namespace parshall::lab {

Traffic random_traffic(std::size_t flows, double zipf, std::size_t packets, std::uint64_t seed) {
  Traffic traffic{.name = zipf == 0 ? "uniform" : fmt::format("Zipf {}", zipf),
                  .flows = flows,
                  .zipf = zipf,
                  .packets = std::vector<std::uint32_t>(packets)};
  SplitMix64 random(seed);
  if (zipf > 0) {
    const Zipf rank(zipf, flows);
    for (auto& flow : traffic.packets) flow = static_cast<std::uint32_t>(rank(random));
  } else {
    for (auto& flow : traffic.packets) flow = static_cast<std::uint32_t>(random.below(flows));
  }
  return traffic;
}

Result<Traffic> traffic_of_file(const std::string& path, std::size_t most) {
  auto sources = open_capture_file(path, 1);
  if (!sources) return sources.error();
  PacketSource& source = *sources->front();
  Traffic traffic{.name = path, .flows = 0, .zipf = 0, .packets = {}};
  std::unordered_map<FlowKey, std::uint32_t, KeyHash> numbers;
  std::array<RawPacket, 256> batch;
  while (traffic.packets.size() < most && !source.exhausted()) {
    const std::size_t count = source.poll(batch);
    for (const RawPacket& packet : std::span(batch).first(count)) {
      PacketFacts facts;
      if (decode_any(packet, IpHeader::outermost, facts) != Verdict::counted) continue;
      traffic.packets.push_back(
          numbers.try_emplace(facts.key, static_cast<std::uint32_t>(numbers.size())).first->second);
    }
  }
  if (traffic.packets.size() >= most) {
    traffic.packets.resize(most);
    traffic.warning = fmt::format("{}: only its first {} packets are played", path, most);
  }
  if (const auto damage = source.damage()) traffic.warning = damage->message;
  traffic.flows = numbers.size();
  if (traffic.flows == 0) return Error{fmt::format("{}: none of its packets belongs to a flow", path)};
  return traffic;
}

Result<Traffic> traffic_of_spec(const std::string& text) {
  const auto spec = TrafficSpec::parse(text);
  if (!spec) return spec.error();
  const auto trace = Trace::make(*spec);
  if (!trace) return trace.error();
  Traffic traffic{.name = text, .flows = spec->flows, .zipf = spec->zipf_exponent, .packets = {}};
  for (std::uint64_t i = 0; i < trace->packets(); ++i) traffic.packets.push_back(trace->flow_of(i));
  return traffic;
}

}  // namespace parshall::lab
