// SPDX-License-Identifier: Apache-2.0
#include "app/compare_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/counted.hpp"
#include "base/escaped.hpp"
#include "pipeline/output/format.hpp"
#include "pipeline/output/text/text_table.hpp"

namespace parshall::cli {
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

const char* way_text(Way way) noexcept { return way == Way::there ? "there" : "back"; }

std::string delay_text(double ns) {
  const double size = std::abs(ns);
  if (size < 1e3) return fmt::format("{:.0f} ns", ns);
  if (size < 1e6) return fmt::format("{:.1f} us", ns / 1e3);
  if (size < 1e9) return fmt::format("{:.3f} ms", ns / 1e6);
  return fmt::format("{:.3f} s", ns / 1e9);
}
std::string delay_text(std::int64_t ns) { return delay_text(static_cast<double>(ns)); }

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
  for (const std::string& text : {unless_unknown(delays.least), delay_text(delays.mean), unless_unknown(delays.p50),
                                  unless_unknown(delays.p99), unless_unknown(delays.most)})
    line.push_back(text);
  line.push_back(delays.variation ? delay_text(*delays.variation) : "");
  return line;
}

std::vector<std::string> head(std::string name) {
  return {std::move(name), "sent", "lost",   "",    "duplicated", "reordered",
          "least delay",   "mean", "median", "p99", "most",       "jitter"};
}

/// Returns what may keep packets from being recognized.
std::string remedies(ComparedBy by) {
  constexpr const char* kOffload = "does a NIC split or join segments (ethtool -K INTERFACE gro off gso off tso off)?";
  if (by == ComparedBy::records)
    return fmt::format("are addresses translated, which records do not tell? Does something rewrite packets? Or {}",
                       kOffload);
  return fmt::format("are addresses translated (--nat)? Or {}", kOffload);
}

/// Returns why there is nothing to compare.
std::string nothing_in_common(const Tap& up, const Tap& down, const Comparison& found) {
  if (up.compared == 0 || down.compared == 0)
    return fmt::format("no packet with an IP header in {}", up.compared == 0 ? up.name : down.name);
  return fmt::format("no packet was seen at both points: is it other traffic? Else {}", remedies(found.by));
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

/// Returns whether packets are lost, and others come from nowhere, in the same direction: more than one in a hundred.
bool seem_changed(const Passed& passed) {
  return passed.unlike_sent > passed.sent / 100 ||
         (passed.lost > passed.sent / 100 && passed.extra > passed.received / 100);
}

/// Returns what may make the numbers wrong, a sentence each.
std::vector<std::string> warnings(const Tap& up, const Tap& down, const Comparison& found) {
  std::vector<std::string> all;
  const Passed &there = found.there, &back = found.back;
  if (there.delivered + back.delivered == 0)
    all.push_back(nothing_in_common(up, down, found));
  else if (seem_changed(there) || seem_changed(back) || (there.lost > there.sent / 2 && back.lost > back.sent / 2))
    all.push_back("many packets vanish and others come from nowhere: " + remedies(found.by));
  for (const auto& [tap, wrong] :
       {std::pair(&down, "lost there, or extra back"), std::pair(&up, "lost back, or extra there")})
    if (tap->missed != 0)
      all.push_back(fmt::format("{} dropped {} unseen, as this host was too slow: up to so many packets are wrongly {}",
                                tap->name, counted(tap->missed, "packet"), wrong));
  for (const Tap* tap : {&up, &down})
    if (!tap->lacks.empty())
      all.push_back(fmt::format("{} lacks records, so what only the other point saw is not called lost: {}", tap->name,
                                tap->lacks));
  for (const Tap* tap : {&up, &down})
    if (tap->joined != 0)
      all.push_back(
          fmt::format("{} of {} are longer than its MTU allows: segments were joined, and cannot be compared "
                      "(ethtool -K {} gro off gso off tso off)",
                      counted(tap->joined, "packet"), tap->name, tap->name));
  if (found.clocks.kind == Clocks::Kind::uneven)
    all.push_back(
        fmt::format("no offset and drift of the clocks explains all packets: a clock was set, or times are "
                    "coarser than delays; delays are wrong by up to {}",
                    delay_text(found.clocks.error_ns.value_or(0))));
  if (there.lost + there.extra + back.lost + back.extra != 0 && up.cut + down.cut != 0)
    all.push_back(
        fmt::format("{} were captured too short to be compared as a whole; what was captured longer at the other "
                    "point counts as lost (tcpdump -s 256)",
                    counted(up.cut + down.cut, "packet")));
  if (up.later_fragments != down.later_fragments)
    all.push_back(fmt::format("later fragments are not compared, but {} has {} and {} has {}", up.name,
                              up.later_fragments, down.name, down.later_fragments));
  return all;
}

void write_text(const Tap& up, const Tap& down, const Comparison& found, std::span<const ComparedFlow* const> flows,
                std::size_t top, Output& output) {
  output.write(fmt::format("up        {}: {}\ndown      {}: {}\n", escaped(up.name), counted(up.packets, "packet"),
                           escaped(down.name), counted(down.packets, "packet")));
  for (const std::string& warning : warnings(up, down, found)) output.write("WARNING   " + escaped(warning) + "\n");
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

nlohmann::ordered_json to_json(const Tap& tap) {
  return {{"name", tap.name},
          {"packets", tap.packets},
          {"compared", tap.compared},
          {"filtered", tap.filtered},
          {"not_ip", tap.not_ip},
          {"malformed", tap.malformed},
          {"later_fragments", tap.later_fragments},
          {"cut", tap.cut},
          {"missed", tap.missed},
          {"joined", tap.joined}};
}

/// The numbers of a comparison under their names in csv and json. An absent value is null.
nlohmann::ordered_json to_json(const Passed& passed, const Tap& sender, const Tap& receiver, bool knows_order) {
  const Delays& delays = passed.delays;
  nlohmann::ordered_json json{
      {"packets_sent", passed.sent},
      {"packets_received", passed.received},
      {"packets_delivered", passed.delivered},
      {"packets_lost", passed.lost},
      {"packets_lost_at_least", passed.lost - std::min(passed.lost, receiver.missed)},
      {"packets_lost_at_most", passed.lost + sender.missed},
      {"packets_outside_sent", passed.outside_sent},
      {"packets_outside_received", passed.outside_received},
      {"packets_duplicated", passed.duplicated},
      {"packets_extra", passed.extra},
      {"packets_reordered", knows_order ? nlohmann::ordered_json(passed.reordered) : nlohmann::ordered_json()},
      {"packets_unlike_sent", passed.unlike_sent},
      {"packets_unlike_received", passed.unlike_received},
      {"packets_alike", passed.alike},
      {"delay_packets", delays.packets},
      {"delay_samples", delays.samples}};
  const bool any = delays.packets != 0, all = delays.samples != 0;
  const auto put = [&](const char* name, const nlohmann::ordered_json& value, bool is_there) {
    json[name] = is_there ? value : nlohmann::ordered_json();
  };
  put("delay_min_ns", delays.least, all);
  put("delay_mean_ns", delays.mean, any);
  put("delay_mean_exact", delays.mean_is_exact, any);
  put("delay_p50_ns", delays.p50, all);
  put("delay_p90_ns", delays.p90, all);
  put("delay_p99_ns", delays.p99, all);
  put("delay_max_ns", delays.most, all);
  put("delay_variation_mean_ns", delays.variation.value_or(0), delays.variation.has_value());
  return json;
}

void put_key(nlohmann::ordered_json& json, const FlowKey& key, const std::string& prefix) {
  json[prefix + "src_ip"] = address_text(key.src_address());
  json[prefix + "src_port"] = key.src_port();
  json[prefix + "dst_ip"] = address_text(key.dst_address());
  json[prefix + "dst_port"] = key.dst_port();
}

nlohmann::ordered_json to_json(const ComparedFlow& flow, const Tap& up, const Tap& down, bool knows_order) {
  nlohmann::ordered_json json;
  put_key(json, flow.key, "");
  json["protocol"] = flow.key.protocol;
  put_key(json, flow.at_down.value_or(flow.key), "down_");
  json["way"] = way_text(flow.way);
  const bool any = flow.passed.sent != 0;
  json["first_ns"] = any ? nlohmann::ordered_json(flow.first_ns) : nlohmann::ordered_json();
  json["last_ns"] = any ? nlohmann::ordered_json(flow.last_ns) : nlohmann::ordered_json();
  const bool goes_there = flow.way == Way::there;
  json.update(to_json(flow.passed, goes_there ? up : down, goes_there ? down : up, knows_order));
  return json;
}

nlohmann::ordered_json to_json(const Clocks& clocks) {
  constexpr const char* kKinds[] = {"same", "agree", "corrected", "not_checked", "one_way", "uneven", "unknown"};
  nlohmann::ordered_json json{{"clocks", kKinds[static_cast<std::size_t>(clocks.kind)]},
                              {"offset_ns", clocks.offset_ns}};
  json["error_ns"] = clocks.error_ns ? nlohmann::ordered_json(*clocks.error_ns) : nlohmann::ordered_json();
  json["at_ns"] = clocks.at_ns;
  json["drift_ppm"] = clocks.drift * 1e6;
  return json;
}

void write_json(const Tap& up, const Tap& down, const Comparison& found, std::span<const ComparedFlow* const> flows,
                Output& output) {
  nlohmann::ordered_json json{{"up", to_json(up)},
                              {"down", to_json(down)},
                              {"clocks", to_json(found.clocks)},
                              {"there", to_json(found.there, up, down, found.knows_order())},
                              {"back", to_json(found.back, down, up, found.knows_order())}};
  json["ended_flows"] = found.ended_flows;
  json["warnings"] = warnings(up, down, found);
  const std::string beginning = json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  output.write(beginning.substr(0, beginning.size() - 1) + ",\"flows\":[");
  const char* between = "\n";
  for (const ComparedFlow* flow : flows)
    output.write(std::exchange(between, ",\n") + to_json(*flow, up, down, found.knows_order()).dump());
  output.write("]}\n");
}

void write_csv(const Tap& up, const Tap& down, bool knows_order, std::span<const ComparedFlow* const> flows,
               Output& output) {
  std::string line;
  const nlohmann::ordered_json names = to_json(ComparedFlow{}, up, down, knows_order);
  for (const auto& [name, value] : names.items()) line += (line.empty() ? "" : ",") + name;
  output.write(line + "\n");
  for (const ComparedFlow* flow : flows) {
    line.clear();
    const nlohmann::ordered_json values = to_json(*flow, up, down, knows_order);
    for (const auto& [name, value] : values.items()) {
      if (name != "src_ip") line += ',';
      line += value.is_null() ? "" : value.is_string() ? value.get<std::string>() : value.dump();
    }
    output.write(line + "\n");
  }
}

}  // namespace

void CompareReport::write(const Tap& up, const Tap& down, const Comparison& comparison, Output& output) const {
  std::vector<const ComparedFlow*> flows;
  for (const ComparedFlow& flow : comparison.flows)
    if (only != "lossy" || !flow.passed.is_whole()) flows.push_back(&flow);
  if (format == "json")
    write_json(up, down, comparison, flows, output);
  else if (format == "csv")
    write_csv(up, down, comparison.knows_order(), flows, output);
  else
    write_text(up, down, comparison, flows, top, output);
}

}  // namespace parshall::cli
