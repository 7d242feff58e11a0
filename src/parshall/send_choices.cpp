// SPDX-License-Identifier: Apache-2.0
#include "parshall/send_choices.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

#include "base/parse.hpp"

namespace parshall {
namespace {

Result<MacAddress> parse_mac(const std::string& option, const std::string& text) {
  const Error error{fmt::format("{} {}: give six bytes, such as 02:00:00:00:00:01", option, text)};
  MacAddress mac{};
  if (text.size() != 17) return error;
  for (std::size_t i = 0; i < mac.size(); ++i) {
    const char* const byte = text.data() + 3 * i;
    const auto [end, problem] = std::from_chars(byte, byte + 2, mac[i], 16);
    if (problem != std::errc() || end != byte + 2 || (i + 1 < mac.size() && *end != ':')) return error;
  }
  return mac;
}

/// Parses "FROM:TIME", where FROM is a rate in the format of `rate`.
Result<SendRamp> parse_ramp(const std::string& text, const SendRate& rate) {
  const std::size_t colon = text.find(':');
  const auto from = colon == text.npos ? Result<SendRate>(Error{""}) : SendRate::parse(text.substr(0, colon));
  const auto time_ns = colon == text.npos ? std::nullopt : parse_duration_ns(text.substr(colon + 1));
  if (!from || !time_ns || *time_ns == 0)
    return Error{fmt::format("--ramp {}: give the rate to begin with and how long it takes, such as 1kpps:10s", text)};
  const bool ramps = rate.unit == SendRate::Unit::packets || rate.unit == SendRate::Unit::line_bits ||
                     rate.unit == SendRate::Unit::line_share;
  if (!ramps || from->unit != rate.unit)
    return Error{fmt::format("--ramp {}: it leads to a --rate of the same unit: pps, bps or %", text)};
  return SendRamp{.from = from->value, .time_ns = *time_ns};
}

/// Exactly one place takes what is sent.
std::optional<Error> place_problem(const SendOptions& o) {
  std::vector<std::string> places;
  if (!o.interface.empty()) places.push_back("-i " + o.interface);
  if (!o.file.empty()) places.push_back("-w " + o.file);
  if (o.nowhere) places.emplace_back("--null");
  if (o.interface.find(',') != o.interface.npos && !o.interface.starts_with("vdev:"))
    return Error{fmt::format("-i {}: send takes one interface", o.interface)};
  if (places.size() + o.kept == 1) return std::nullopt;
  if (places.size() > 1)
    return Error{fmt::format("{} are given: send writes to one place", fmt::join(places, " and "))};
  return Error{"say where to: -i INTERFACE, -w FILE (a capture), or --null (memory)"};
}

/// Checks that exactly one source and one destination are given.
std::optional<Error> check_ends(const SendOptions& o) {
  if (o.capture.empty() == o.traffic.empty())
    return Error{"say what to send: -g SPEC (built-in traffic) or -r FILE (a capture)"};
  if (auto problem = place_problem(o)) return problem;
  if (o.capture.empty() && (o.loops != 1 || o.fresh_flows || o.fix_checksums || o.cap != 0 || o.pad != 0))
    return Error{
        "--loops, --fresh-flows, --fix-checksums, --cap and --pad are of captures: built-in traffic has settings of "
        "its own"};
  if (o.prompt && (o.traffic.empty() || o.capture == "-")) return Error{"--prompt changes built-in traffic: give -g"};
  if (!o.file.empty() && o.prompt) return Error{"--prompt is of traffic that takes its time: -i or --null"};
  if (o.per_flow && o.file == "-" && o.output == "-")
    return Error{"standard output is the capture's: name a file for the report of flows with -o"};
  if (o.top >= 0 && !o.per_flow) return Error{"--top is of the report of flows: give --per-flow too"};
  if (o.fresh_flows && o.loops == 1) return Error{"--fresh-flows is of several loops: give --loops"};
  if (o.format == "csv" && !o.per_flow) return Error{"--format csv has a line a flow: give --per-flow too"};
  if (o.cap != 0)
    if (auto problem = range_problem("cap", o.cap, SendOptions::kFrameBytes)) return problem;
  if (o.pad != 0)
    if (auto problem = range_problem("pad", o.pad, SendOptions::kFrameBytes)) return problem;
  return range_problem("burst", o.burst, SendOptions::kBurst);
}

}  // namespace

Result<SendChoices> choose(const SendOptions& o) {
  if (auto error = check_ends(o)) return *std::move(error);
  SendChoices choices;
  if (!o.traffic.empty()) {
    auto spec = TrafficSpec::parse(o.traffic, {.flood = true, .trains = true});
    if (!spec) return spec.error();
    choices.traffic = *std::move(spec);
  }
  const auto rate = o.rate.empty() ? Result<SendRate>(SendRate{}) : SendRate::parse(o.rate);
  if (!rate) return Error{"--rate: " + rate.error().message};
  SendPlan& plan = choices.plan;
  plan.rate = *rate;
  const bool is_stamped = !o.file.empty() || o.kept;
  plan.time = is_stamped ? SendTime::stamped : SendTime::real;
  const bool by_stamps =
      o.rate.empty() ? !o.capture.empty() || is_stamped : plan.rate.unit == SendRate::Unit::as_taken && is_stamped;
  if (by_stamps) plan.rate = {SendRate::Unit::captured, 1};
  if (!o.traffic.empty() && plan.rate.unit == SendRate::Unit::captured && !by_stamps)
    return Error{fmt::format("--rate {}: built-in traffic has no speed of its own: give pps, bps or %", o.rate)};
  if (!o.ramp.empty()) {
    const auto ramp = parse_ramp(o.ramp, plan.rate);
    if (!ramp) return ramp.error();
    plan.ramp = *ramp;
  }
  plan.burst = o.burst;
  if (o.burst != 1 && plan.rate.unit == SendRate::Unit::as_taken)
    return Error{"--burst is of frames that wait for their time: give a --rate"};
  if (!o.traffic.empty()) plan.first_ns = kTrafficStartNs;
  const auto count = parse_count(o.count);
  if (!count) return Error{fmt::format("--count {}: a number of packets, such as 1M", o.count)};
  const auto duration_ns = parse_duration_ns(o.duration);
  if (!duration_ns) return Error{fmt::format("--duration {}: a time, such as 10s", o.duration)};
  const auto wait_ns = parse_duration_ns(o.wait);
  if (!wait_ns) return Error{fmt::format("--wait {}: a time, such as 10s", o.wait)};
  plan.frames = *count;
  plan.duration_ns = *duration_ns;
  choices.wait_ns = *wait_ns;
  choices.ends = plan.frames != 0 || plan.duration_ns != 0 || (!o.capture.empty() && o.loops != 0);
  if (!choices.ends && is_stamped) return Error{"a file has to end: give --count or --duration"};
  if (!o.line_rate.empty()) {
    const auto line = SendRate::parse(o.line_rate);
    if (!line || line->unit != SendRate::Unit::line_bits)
      return Error{fmt::format("--line-rate {}: bits per second, such as 10Gbps", o.line_rate)};
    choices.line_bps = line->value;
  }
  choices.changes = {
      .most_bytes = o.cap, .least_bytes = o.pad, .fresh_flows = o.fresh_flows, .fix_checksums = o.fix_checksums};
  if (o.cap != 0 && o.pad > o.cap) return Error{"--pad is above --cap: no frame is of such a length"};
  for (const auto& [option, text, mac] :
       {std::tuple{"--src-mac", &o.source_mac, &choices.changes.source_mac},
        std::tuple{"--dst-mac", &o.destination_mac, &choices.changes.destination_mac}}) {
    if (text->empty()) continue;
    if (!o.traffic.empty()) return Error{fmt::format("{} is of captures: give -g {}={}", option, option + 2, *text)};
    const auto parsed = parse_mac(option, *text);
    if (!parsed) return parsed.error();
    *mac = *parsed;
  }
  choices.top = o.top >= 0 ? static_cast<std::size_t>(o.top) : o.format == "text" ? 20 : 0;
  return choices;
}

Result<SendPlan> on_line(SendPlan plan, std::optional<double> line_bps) {
  if (plan.rate.unit != SendRate::Unit::line_share) return plan;
  if (!line_bps) return Error{"--rate: the device does not say how fast its line is: give --line-rate, such as 10Gbps"};
  plan.rate = plan.rate.on_line(*line_bps);
  plan.ramp.from *= *line_bps;
  return plan;
}

}  // namespace parshall
