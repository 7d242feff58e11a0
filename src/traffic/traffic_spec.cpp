// SPDX-License-Identifier: Apache-2.0
#include "traffic/traffic_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/suggestion.hpp"
#include "traffic/flow_frames.hpp"
#include "traffic/trailer.hpp"

namespace parshall {
namespace {

/// Sets one NAME=VALUE; `given` has the names before it.
std::optional<Error> set(TrafficSpec& spec, std::string_view item, std::vector<std::string_view>& given) {
  const std::string_view name = item.substr(0, item.find('='));
  if (item.find(' ') != item.npos)
    return Error{
        fmt::format("built-in traffic does not understand \"{}\": put commas between settings, and no spaces", item)};
  const auto setting = std::ranges::find(traffic_settings(), name, &TrafficSetting::name);
  if (setting == traffic_settings().end() || name.size() == item.size())
    return Error{fmt::format("built-in traffic does not understand \"{}\": give NAME=VALUE, separated by commas{}",
                             item,
                             suggestion(name, traffic_settings(), &TrafficSetting::name, "parshall list traffic"))};
  if (std::ranges::find(given, name) != given.end())
    return Error{fmt::format("built-in traffic: {} is given twice: leave one out", name)};
  given.push_back(name);
  if (!setting->set(spec, item.substr(name.size() + 1)))
    return Error{fmt::format("built-in traffic does not understand \"{}\": give {}={}", item, name, setting->values)};
  return std::nullopt;
}

/// Returns an error if the spec needs an ability that `can` lacks.
std::optional<Error> asks_too_much(const TrafficSpec& spec, TrafficAbilities can) {
  const struct {
    bool asked, can;
    const char* what;
  } kinds[] = {
      {spec.train_packets != 0, can.trains, "flows that do not repeat: leave out dist=trains"},
      {spec.flood_share != 0, can.flood, "packets of a flood: leave out flood"},
      {spec.pace_pps != 0, can.pace, "packets in real time: leave out pace"},
  };
  for (const auto& kind : kinds)
    if (kind.asked && !kind.can)
      return Error{fmt::format("built-in traffic: this command does not allow {}", kind.what)};
  return std::nullopt;
}

/// Rejects specs that leave no room for a trailer, for example because headers make frames longer than requested.
std::optional<Error> trailer_conflict(const TrafficSpec& spec) {
  if (spec.train_packets != 0 || spec.flood_share != 0 || spec.connected())
    return Error{
        "built-in traffic: only lasting flows can have trailers: leave out trains, flood, connections and sessions"};
  const FlowTuple longest{.ipv6 = spec.ipv6_share > 0, .tcp = spec.protocol != ProtocolMix::udp};
  const std::uint32_t least = FlowFrames(spec).header_bytes(longest) + Trailer::kBytes + kFcsBytes;
  if (spec.sizes.least() < least)
    return Error{fmt::format("built-in traffic: a frame of {} bytes has no room for its trailer: give size={} or more",
                             spec.sizes.least(), least)};
  return std::nullopt;
}

}  // namespace

std::string names_of_traffic_settings() {
  std::string names;
  for (const TrafficSetting& setting : traffic_settings())
    fmt::format_to(std::back_inserter(names), "{}{}", names.empty() ? "" : ", ", setting.name);
  return names;
}

std::optional<Error> conflict_of(const TrafficSpec& spec) {
  if (spec.resend_share != 0 && !spec.connected())
    return Error{"built-in traffic: resend needs TCP data: give protocol=connections or sessions"};
  if ((spec.train_packets != 0) + spec.ladder + (spec.zipf_exponent != 0) > 1)
    return Error{"built-in traffic has one distribution: Zipf, a ladder or trains"};
  if (spec.train_packets != 0 &&
      (spec.ipv6_share != 0 || spec.flood_share != 0 || spec.protocol == ProtocolMix::udp || spec.connected()))
    return Error{"built-in traffic: trains are TCP over IPv4: leave out ipv6, flood and protocol"};
  if (spec.train_packets != 0 && !spec.sizes.alike())
    return Error{"built-in traffic: all frames of trains have the same size: give one size"};
  if (spec.resend_share != 0 && spec.protocol == ProtocolMix::connections && !spec.sizes.alike())
    return Error{
        "built-in traffic: with protocol=connections and resend, all frames have the same size: give one size"};
  if (spec.protocol == ProtocolMix::sessions && spec.flows % 2 != 0)
    return Error{"built-in traffic: each session consists of two flows: give an even number of flows"};
  if (spec.trailer) {
    if (const auto problem = trailer_conflict(spec)) return problem;
  }
  if (spec.pace_pps == 0 && (spec.swing_ms != 0 || spec.queue != 0))
    return Error{"built-in traffic: swing and queue need pace=PPS"};
  if (spec.pace_pps != 0 && spec.rate_pps != TrafficSpec().rate_pps)
    return Error{"built-in traffic: with pace, time stamps are real time: leave out rate"};
  return std::nullopt;
}

Result<TrafficSpec> TrafficSpec::parse(std::string_view text, TrafficAbilities can) {
  TrafficSpec spec;
  std::vector<std::string_view> given;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    if (const auto problem = set(spec, item, given)) return *problem;
  }
  if (const auto problem = conflict_of(spec)) return *problem;
  if (const auto problem = asks_too_much(spec, can)) return *problem;
  return spec;
}

}  // namespace parshall
