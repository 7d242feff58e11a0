// SPDX-License-Identifier: Apache-2.0
#include "monitor/send_options.hpp"

#include <fmt/format.h>

#include <charconv>

#include "base/parse.hpp"

namespace parshall::cli {
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

/// "FROM:TIME", where FROM is a rate as `rate` is.
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

/// Whose packets go where.
std::optional<Error> check_ends(const SendOptions& o) {
  if (o.capture.empty() == o.traffic.empty())
    return Error{"say what to send: -g SPEC (built-in traffic) or -r FILE (a capture)"};
  if (!o.interface.empty() + !o.file.empty() + o.nowhere != 1)
    return Error{"say where to: -i INTERFACE, -w FILE (a capture), or --null (memory)"};
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
  return std::nullopt;
}

}  // namespace

void declare(Command command, SendOptions& o) {
  command.add_option("-g,--generate", o.traffic, "Built-in traffic, such as flows=1000000,dist=zipf:1.1,size=64")
      ->group("What");
  command.add_option("-r,--read", o.capture, "Capture file (pcap, pcapng, ERF, also compressed), - for standard input")
      ->group("What");
  command.add_option("--loops", o.loops, "How often the capture is sent; 0: until something ends it")
      ->capture_default_str()
      ->group("What");
  command.add_flag("--fresh-flows", o.fresh_flows, "Other addresses in each loop but the first: other flows")
      ->group("What");
  command.add_option("--cap", o.cap, "Longest frame in bytes, with FCS: the others are cut, and their headers say so")
      ->check(in_range(64, 65535))
      ->group("What");
  command.add_option("--pad", o.pad, "Shortest frame in bytes, with FCS: the others are padded")
      ->check(in_range(64, 65535))
      ->group("What");
  command.add_flag("--fix-checksums", o.fix_checksums, "Also those that were wrong in the capture")->group("What");
  command.add_option("--src-mac", o.source_mac, "Source address of all frames of a capture")->group("What");
  command.add_option("--dst-mac", o.destination_mac, "Destination address of all frames of a capture")->group("What");

  command.add_option("-i,--interface", o.interface, "Kernel interface, PCI address, or vdev:NAME,ARGS")->group("Where");
  command.add_option("-w,--write", o.file, "Capture file to write, - for standard output")->group("Where");
  command.add_flag("--null", o.nowhere, "Frames are written to memory, and go nowhere")->group("Where");
  command.add_option("--via", o.via, "How to send by a kernel interface")
      ->check(among({"af_packet", "af_xdp"}))
      ->capture_default_str()
      ->group("Where");
  command.add_option("--eal", o.eal, "More DPDK EAL arguments, in one string")->group("Where");
  command.add_option("--wait", o.wait, "How long to wait for the other end of the link")
      ->capture_default_str()
      ->group("Where");

  command
      .add_option("--rate", o.rate,
                  "asap, pps, kpps, Mpps; bps to Gbps, with all that a line needs for a frame; % of the line; or 2x: "
                  "so many times a capture's own speed (default: asap with -g, 1x with -r)")
      ->group("When");
  command.add_option("--ramp", o.ramp, "FROM:TIME, such as 1kpps:10s: reach the rate little by little")->group("When");
  command.add_option("--burst", o.burst, "Frames that are sent at once, with pauses that keep the rate")
      ->check(in_range(1u, 1u << 20))
      ->capture_default_str()
      ->group("When");
  command.add_option("--count", o.count, "Stop after so many packets")->group("When");
  command.add_option("--duration", o.duration, "Stop after this time")->group("When");
  command.add_option("--line-rate", o.line_rate, "Speed of the line, such as 10Gbps, where the device does not tell")
      ->group("When");
  command.add_flag("--prompt", o.prompt, "Change the traffic and the rate while it runs, from standard input")
      ->group("When");
  command.add_option("--core", o.core, "Core to pin the sending thread to")->check(non_negative())->group("When");

  command.add_flag("--per-flow", o.per_flow, "Report each flow that was sent, as watch does")->group("Report");
  command.add_option("--format", o.format, "text, json, or csv with --per-flow")
      ->check(among({"text", "json", "csv"}))
      ->capture_default_str()
      ->group("Report");
  command.add_option("-o,--output", o.output, "File for the report")->capture_default_str()->group("Report");
  command.add_option("--top", o.top, "Flows to show; 0 is all (default: 20 in text, else all)")
      ->check(non_negative())
      ->group("Report");
  command.add_flag("-q,--quiet", o.quiet, "No messages but errors")->group("Report");
}

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
  plan.time = o.file.empty() ? SendTime::real : SendTime::stamped;
  const bool by_stamps = o.rate.empty() ? !o.capture.empty() || !o.file.empty()
                                        : plan.rate.unit == SendRate::Unit::as_taken && !o.file.empty();
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
  const bool ends = plan.frames != 0 || plan.duration_ns != 0 || (!o.capture.empty() && o.loops != 0);
  if (!ends && !o.file.empty()) return Error{"a file has to end: give --count or --duration"};
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

}  // namespace parshall::cli
