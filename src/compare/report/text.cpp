// SPDX-License-Identifier: Apache-2.0
#include "compare/report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/counted.hpp"
#include "base/escaped.hpp"
#include "compare/report/warnings.hpp"
#include "pipeline/output/format.hpp"
#include "pipeline/output/text/text_table.hpp"

namespace parshall {
namespace {

std::string endpoint_text(std::span<const std::uint8_t> address, std::uint16_t port, bool has_port) {
  const std::string text = address_text(address);
  if (!has_port) return text;
  return address.size() > 4 ? fmt::format("[{}]:{}", text, port) : fmt::format("{}:{}", text, port);
}

std::string flow_text(const FlowKey& key) {
  const bool has_ports = key.src_port() != 0 || key.dst_port() != 0;
  return fmt::format("{} -> {} {}", endpoint_text(key.src_address(), key.src_port(), has_ports),
                     endpoint_text(key.dst_address(), key.dst_port(), has_ports), protocol_text(key.protocol));
}

/// Returns the mean with how far off it may be, if it is an estimate.
std::string mean_text(const Delays& delays) {
  const std::string mean = delay_text(delays.mean);
  if (!delays.mean_error) return "about " + mean;
  return *delays.mean_error == 0 ? mean : fmt::format("{} +- {}", mean, delay_text(*delays.mean_error));
}

std::vector<std::string> cells(std::string name, const Passed& passed, bool knows_order) {
  const Delays& delays = passed.delays;
  const std::uint64_t known = passed.delivered + passed.lost;
  const double share = known == 0 ? 0 : 100.0 * static_cast<double>(passed.lost) / static_cast<double>(known);
  std::vector<std::string> line{std::move(name),
                                std::to_string(passed.sent),
                                std::to_string(passed.lost),
                                known == 0 ? "" : fmt::format("{:.2f} %", share),
                                std::to_string(passed.duplicated),
                                knows_order ? std::to_string(passed.reordered) : ""};
  if (delays.packets == 0) {
    line.resize(line.size() + 6);
    return line;
  }
  const auto unless_unknown = [&](std::int64_t ns) { return delays.samples == 0 ? "" : delay_text(ns); };
  for (const std::string& text : {unless_unknown(delays.least), mean_text(delays), unless_unknown(delays.p50),
                                  unless_unknown(delays.p99), unless_unknown(delays.most)})
    line.push_back(text);
  line.push_back(delays.variation ? delay_text(*delays.variation) : "");
  return line;
}

std::vector<std::string> head(std::string name) {
  return {std::move(name), "sent", "lost",   "",    "duplicated", "reordered",
          "least delay",   "mean", "median", "p99", "most",       "jitter"};
}

std::string drift_text(const Clocks& clocks) { return fmt::format("drift {:.2f} ppm", clocks.drift * 1e6); }

std::string clocks_text(const Tap& up, const Tap& down, const Clocks& clocks) {
  switch (clocks.kind) {
    case Clocks::Kind::unknown:
      return "";
    case Clocks::Kind::same:
      return "both interfaces have the clock of this host";
    case Clocks::Kind::agree:
      return fmt::format("no packet arrives before it was sent, so the clocks differ by at most {}",
                         delay_text(clocks.error_ns.value_or(0)));
    case Clocks::Kind::not_checked:
      return "not checked, since all packets go one way: delays are as the captures say";
    case Clocks::Kind::one_way:
      return fmt::format("they differ{}, and all packets go one way: delays are those above the least one",
                         clocks.drift == 0 ? "" : " (" + drift_text(clocks) + ")");
    case Clocks::Kind::uneven:
      return "";
    case Clocks::Kind::corrected:
      break;
  }
  return fmt::format("{} is {} {} {} (+- {}{}); delays are corrected", escaped(down.name),
                     delay_text(std::abs(static_cast<double>(clocks.offset_ns))),
                     clocks.offset_ns < 0 ? "behind" : "ahead of", escaped(up.name),
                     delay_text(clocks.error_ns.value_or(0)), clocks.drift == 0 ? "" : ", " + drift_text(clocks));
}

void add_part(std::string& parts, std::uint64_t count, const std::string& what) {
  if (count != 0) parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", count, what);
}

std::string left_out_text(const Tap& tap) {
  std::string parts;
  add_part(parts, tap.filtered, "not asked for");
  add_part(parts, tap.not_ip, "not IP");
  add_part(parts, tap.malformed, "malformed");
  add_part(parts, tap.later_fragments, "later fragments");
  return parts;
}

std::string other_text(const Passed& passed) {
  std::string parts;
  add_part(parts, passed.outside_sent, "sent when the other point may not have watched");
  add_part(parts, passed.outside_received, "arrived when the other point may not have watched");
  add_part(parts, passed.extra, "arrived without being seen before");
  add_part(parts, passed.unlike_sent + passed.unlike_received, "in flows whose packets all change on the way");
  add_part(parts, passed.alike, "with an identical twin, so their delay is unknown");
  return parts;
}

}  // namespace

void write_compared_text(const Compared& compared, std::span<const ComparedFlow* const> flows, std::size_t top,
                         Output& output) {
  const auto& [up, down, found, over_time] = compared;
  output.write(fmt::format("up        {}: {}\ndown      {}: {}\n", escaped(up.name), counted(up.packets, "packet"),
                           escaped(down.name), counted(down.packets, "packet")));
  for (const std::string& warning : warnings(compared)) output.write("WARNING   " + escaped(warning) + "\n");
  if (const std::string clocks = clocks_text(up, down, found.clocks); !clocks.empty())
    output.write("clocks    " + clocks + "\n");
  for (const Tap* tap : {&up, &down})
    if (const std::string left_out = left_out_text(*tap); !left_out.empty())
      output.write(fmt::format("left out  of {}: {}\n", escaped(tap->name), left_out));
  for (const auto& [passed, way] : {std::pair(&found.there, "there"), std::pair(&found.back, "back")})
    if (const std::string others = other_text(*passed); !others.empty())
      output.write(fmt::format("{:<9} {}\n", way, others));
  TextTable ways(head("way"), 1, output);
  if (found.there.sent + found.there.received != 0)
    ways.add(cells("there (up -> down)", found.there, found.knows_order()));
  if (found.back.sent + found.back.received != 0) ways.add(cells("back (down -> up)", found.back, found.knows_order()));
  ways.finish();
  const std::size_t shown = top == 0 ? flows.size() : std::min(top, flows.size());
  if (shown != 0)
    output.write(fmt::format(
        "\n{} of {}{}\n", shown, counted(flows.size(), "flow"),
        found.ended_flows == 0 ? "" : fmt::format("; {} more are part of the totals alone", found.ended_flows)));
  TextTable table(head("flow"), 1, output);
  for (const ComparedFlow* flow : flows.first(shown)) {
    std::string name = flow_text(flow->key) + (flow->way == Way::back ? " (back)" : "");
    if (flow->passed.received == 0) name += ", never seen at the other point";
    if (flow->at_down) name += " as " + flow_text(*flow->at_down);
    table.add(cells(name, flow->passed, found.knows_order()));
  }
  table.finish();
}

}  // namespace parshall
