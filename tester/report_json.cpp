// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "tester/report_values.hpp"
#include "tester/report_writers.hpp"

namespace parshall::tester {
namespace {

using nlohmann::ordered_json;

ordered_json json_of(std::uint64_t value) { return value; }
ordered_json json_of(double value) { return value; }
template <class T>
ordered_json json_of(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

void add_values(ordered_json& json, const FlowResult& result, const Rates& rates,
                const std::optional<LatencySummary>& latency, Confidence confidence) {
  each_value(result, rates, latency, confidence, [&](std::string_view name, const ReportValue& value) {
    json[std::string(name)] = std::visit([](const auto& number) { return json_of(number); }, value);
  });
}

ordered_json summary_json(const TestReport& report) {
  ordered_json json{{"sending_ns", report.sending_ns},
                    {"confidence", report.confidence == Confidence::percent_95 ? 0.95 : 0.99},
                    {"flows", report.rows.size()},
                    {"silent_flows", report.silent_flows},
                    {"flows_with_loss", report.flows_with_loss},
                    {"frames_that_came",
                     {{"all", report.frames.all()},
                      {"ours", report.frames.ours},
                      {"corrupted", report.frames.corrupted},
                      {"corrupted_of_no_flow", report.frames.corrupted_of_no_flow},
                      {"contradictory", report.frames.contradictory},
                      {"foreign", report.frames.foreign},
                      {"cut", report.frames.cut}}},
                    {"fairness_of_rates", json_of(report.fairness_of_rates)},
                    {"fairness_of_ratios", json_of(report.fairness_of_ratios)}};
  add_values(json, report.total, report.rates, report.latency, report.confidence);
  return json;
}

/// Parses a device's report; a text that is no JSON is kept as a string.
ordered_json device_json(const std::string& text) {
  if (text.empty()) return nullptr;
  ordered_json json = ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
  return json.is_discarded() ? ordered_json(text) : json;
}

ordered_json about_json(const TestAbout& about) {
  return {{"command", about.command},
          {"device", about.device},
          {"traffic", about.traffic},
          {"rate", about.rate},
          {"seed", about.seed},
          {"device_seed", json_of(about.device_seed)},
          {"as_asked", about.is_as_asked()},
          {"sending",
           {{"taken", about.sending.taken},
            {"sent", about.sending.sent},
            {"refused", about.sending.refused},
            {"too_long", about.sending.too_long},
            {"unsent", about.sending.unsent},
            {"dropped", about.dropped_in_sending},
            {"late_p50_ns", json_of(about.late_p50_ns)},
            {"late_p99_ns", json_of(about.late_p99_ns)},
            {"late_max_ns", json_of(about.late_max_ns)}}},
          {"receiving",
           {{"nic_missed", json_of(about.receiving.known(Counter::nic_missed))},
            {"nic_error", json_of(about.receiving.known(Counter::nic_error))},
            {"no_mbuf", json_of(about.receiving.known(Counter::no_mbuf))}}},
          {"interrupted", about.interrupted},
          {"device_did", device_json(about.device_did)}};
}

ordered_json flow_json(const FlowRow& row, Confidence confidence) {
  ordered_json json{{"stream", row.stream}};
  const FlowKey& key = row.key;
  if (key.present()) {
    json["ip_version"] = key.ip_version;
    json["protocol"] = key.protocol;
    json["src_ip"] = address_text(key.src_address());
    json["src_port"] = key.src_port();
    json["dst_ip"] = address_text(key.dst_address());
    json["dst_port"] = key.dst_port();
  }
  add_values(json, row.result, row.rates, row.latency, confidence);
  return json;
}

}  // namespace

std::string report_json(const TestReport& report) {
  std::string to;
  ordered_json document = report.about.command.empty() ? ordered_json::object() : about_json(report.about);
  document["summary"] = summary_json(report);
  std::string head = document.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  head.pop_back();  // flows follow one by one, since there may be millions
  fmt::format_to(std::back_inserter(to), "{},\n\"flows\":[", head);
  const char* separator = "\n";
  for (const FlowRow& row : report.rows) {
    fmt::format_to(std::back_inserter(to), "{}{}", separator, flow_json(row, report.confidence).dump());
    separator = ",\n";
  }
  fmt::format_to(std::back_inserter(to), "]}}\n");
  return to;
}

}  // namespace parshall::tester
