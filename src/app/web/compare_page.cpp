// SPDX-License-Identifier: Apache-2.0
#include "app/web/compare_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>
#include <vector>

#include "app/web/compare_page_bytes.hpp"  // made by embed.py
#include "compare/report/json.hpp"
#include "parshall/metrics_text.hpp"

namespace parshall::web {
namespace {

constexpr const char *kHome = "/", *kState = "/api/state", *kHistory = "/api/history", *kEvents = "/api/events",
                     *kMetrics = "/metrics";
constexpr std::size_t kShownFlows = 100, kShownMoments = 600;

using Json = nlohmann::ordered_json;

/// Returns what the charts show of an interval: its end, and of each way packets sent and lost per second, and the mean
/// and 99th percentile of the delay in ns.
Json moment_of(const ComparedInterval& interval) {
  const double seconds = static_cast<double>(interval.end_ns - interval.begin_ns) * 1e-9;
  Json moment = Json::array({static_cast<double>(interval.end_ns) * 1e-9});
  for (const Passed* const passed : {&interval.there, &interval.back}) {
    moment.push_back(static_cast<double>(passed->sent) / seconds);
    moment.push_back(static_cast<double>(passed->lost) / seconds);
    const Delays& delays = passed->delays;
    moment.push_back(delays.packets == 0 ? Json() : Json(delays.mean));
    moment.push_back(delays.samples == 0 ? Json() : Json(delays.p99));
  }
  return moment;
}

/// Returns the state: the report's JSON with the flows that lost most, and the latest interval.
std::string state_of(const Compared& compared) {
  std::vector<const ComparedFlow*> flows;
  for (const ComparedFlow& flow : compared.found.flows)
    if (flows.size() < kShownFlows) flows.push_back(&flow);
  std::string state = summary_json(compared, /*intervals=*/false);
  state.pop_back();
  const auto& ended = compared.over_time->ended();
  state += fmt::format(",\"all_flows\":{},\"now\":{},\"flows\":", compared.found.flows.size(),
                       ended.empty() ? "null" : moment_of(ended.back()).dump());
  for (const char c : flows_json(compared, flows))
    if (c != '\n') state += c;
  return state + "}";
}

}  // namespace

Result<std::unique_ptr<ComparePage>> ComparePage::open(const Access& access) {
  auto server = Server::open({.name = "--web " + access.address.text(),
                              .address = access.address,
                              .token = access.token,
                              .policy = kComparePagePolicy});
  if (!server) return server.error();
  constexpr const char* kJson = "application/json";
  (*server)->add({.path = kHome, .type = "text/html; charset=utf-8", .is_public = true});
  (*server)->publish(kHome, std::string(kComparePage));
  (*server)->add({.path = kState, .type = kJson});
  (*server)->add({.path = kHistory, .type = kJson});
  (*server)->add({.path = kEvents, .type = "text/event-stream", .delivery = Delivery::stream});
  (*server)->add({.path = kMetrics, .type = std::string(MetricsText::kType)});
  return std::unique_ptr<ComparePage>(
      new ComparePage(*std::move(server), access.token_is_made ? access.token : std::string()));
}

std::string ComparePage::begin() {
  server_->begin();
  return fmt::format("web page at http://{}/{}", server_->address().known_as(),
                     token_.empty() ? "" : "#token=" + token_);
}

void ComparePage::publish(const Compared& compared) {
  const auto& ended = compared.over_time->ended();
  Json history = Json::array();
  for (std::size_t i = ended.size() - std::min(ended.size(), kShownMoments); i < ended.size(); ++i)
    history.push_back(moment_of(ended[i]));
  server_->publish(kHistory, history.dump());
  const std::string state = state_of(compared);
  server_->publish(kEvents, "data: " + state + "\n\n");
  server_->publish(kState, state);
  server_->publish(kMetrics, compare_metrics(compared));
}

std::string compare_metrics(const Compared& compared) {
  using Kind = MetricsText::Kind;
  MetricsText text;
  const OverTime& over_time = *compared.over_time;
  const auto ways = [&](const auto& put) {
    put("there", Way::there);
    put("back", Way::back);
  };
  text.begin("parshall_compare_packets_total", Kind::counter,
             "Packets between the two points, by what became of them.");
  ways([&](std::string_view name, Way way) {
    const Passed& passed = over_time.total(way);
    const std::pair<std::string_view, std::uint64_t> counts[] = {
        {"sent", passed.sent},   {"received", passed.received},         {"delivered", passed.delivered},
        {"lost", passed.lost},   {"duplicated", passed.duplicated},     {"reordered", passed.reordered},
        {"extra", passed.extra}, {"outside_sent", passed.outside_sent}, {"outside_received", passed.outside_received},
    };
    for (const auto& [kind, count] : counts) text.put(count, {{"way", std::string(name)}, {"kind", std::string(kind)}});
  });
  text.begin("parshall_compare_delay_seconds_total", Kind::counter, "Sum of the delays of packets.");
  ways([&](std::string_view name, Way way) {
    text.put(static_cast<double>(over_time.delays(way).ns) * 1e-9, {{"way", std::string(name)}});
  });
  text.begin("parshall_compare_delay_packets_total", Kind::counter, "Packets of which the delay is known.");
  ways([&](std::string_view name, Way way) { text.put(over_time.delays(way).packets, {{"way", std::string(name)}}); });
  if (!compared.over_time->ended().empty()) {
    const ComparedInterval& latest = compared.over_time->ended().back();
    text.begin("parshall_compare_delay_seconds", Kind::gauge, "Percentiles of the delay in the latest second.");
    for (const auto& [way, passed] : {std::pair("there", &latest.there), std::pair("back", &latest.back)}) {
      const Delays& delays = passed->delays;
      if (delays.samples == 0) continue;
      for (const auto& [quantile, ns] :
           {std::pair("0", delays.least), std::pair("0.5", delays.p50), std::pair("0.9", delays.p90),
            std::pair("0.99", delays.p99), std::pair("1", delays.most)})
        text.put(static_cast<double>(ns) * 1e-9, {{"way", way}, {"quantile", quantile}});
    }
  }
  text.begin("parshall_compare_missed_packets_total", Kind::counter, "Packets that this host dropped unseen.");
  for (const auto& [point, tap] : {std::pair("up", &compared.up), std::pair("down", &compared.down)})
    text.put(tap->missed, {{"point", point}, {"interface", tap->name}});
  return text.text();
}

}  // namespace parshall::web
