// SPDX-License-Identifier: Apache-2.0
#include "tester/commands/echo_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/counted.hpp"
#include "base/or_null.hpp"
#include "pipeline/output/format.hpp"
#include "tester/fairness.hpp"

namespace parshall::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kPercentiles[] = {0.5, 0.9, 0.99, 0.999};

double seconds(std::uint64_t ns) { return static_cast<double>(ns) * 1e-9; }

/// Returns the count per second; nullopt if no time passed.
std::optional<double> rate(std::uint64_t count, std::uint64_t elapsed_ns) {
  if (elapsed_ns == 0) return std::nullopt;
  return static_cast<double>(count) / seconds(elapsed_ns);
}

std::string latency_text(const char* name, const ValueHistogram& ns) {
  if (ns.count() == 0) return "";
  std::string text = fmt::format("{:<11} ", name);
  for (const double p : kPercentiles) text += fmt::format("p{} {:.1f}, ", p * 100, *ns.quantile(p) * 1e-3);
  return text + fmt::format("max {:.1f} us\n", static_cast<double>(*ns.largest()) * 1e-3);
}

Json latency_json(const ValueHistogram& ns) {
  if (ns.count() == 0) return nullptr;
  Json latency = {{"mean_ns", or_null(ns.mean())}};
  for (const double p : kPercentiles) latency[fmt::format("p{}_ns", p * 100)] = or_null(ns.quantile(p));
  latency["max_ns"] = *ns.largest();
  return latency;
}

const char* name_of(tester::EchoClose close) { return close == tester::EchoClose::fin ? "fin" : "rst"; }

std::string failures_text(const tester::EchoClientsCounts& counts) {
  std::string text;
  for (std::size_t i = 0; i < counts.failed_by.size(); ++i)
    if (counts.failed_by[i] != 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", counts.failed_by[i], tester::kEchoFailures[i]);
  if (text.empty()) return "";
  if (counts.last_error != 0) text += fmt::format("; the last error: {}", std::strerror(counts.last_error));
  return fmt::format("failed      {}\n", text);
}

}  // namespace

std::string echo_clients_text(const EchoClientsSummary& summary) {
  const tester::EchoClientsCounts& counts = *summary.counts;
  std::string text =
      fmt::format("{} -> {}, {} per message, closed by {}\n", counted(summary.plan.clients, "client"),
                  summary.plan.server.text(), counted(summary.plan.message_bytes, "byte"), name_of(summary.plan.close));
  text += fmt::format("connections {} begun, {} finished, {} failed, {} abandoned, in {:.3f} s\n", counts.begun,
                      counts.finished, counts.failed(), counts.abandoned, seconds(summary.elapsed_ns));
  text += failures_text(counts);
  if (const auto per_second = rate(counts.finished, summary.beginning_ns))
    text += fmt::format("rate        {}\n", scaled_text(*per_second, "connections/s"));
  text += fmt::format("bytes       {} sent, {} received\n", counts.bytes_sent, counts.bytes_received);
  text += latency_text("connection", counts.connection_ns) + latency_text("echo", counts.echo_ns);
  if (const auto jain = tester::jain_index(counts.finished_by_client)) {
    const auto [least, most] = std::ranges::minmax(counts.finished_by_client);
    text += fmt::format("fairness    {:.4f} (Jain), {} to {} per client\n", *jain, least, counted(most, "connection"));
  }
  if (counts.ports_skipped != 0)
    text += fmt::format("ports       {} skipped: in use or in TIME_WAIT (see --close)\n", counts.ports_skipped);
  return text + "command     " + summary.command + "\n";
}

std::string echo_clients_json(const EchoClientsSummary& summary) {
  const tester::EchoClientsCounts& counts = *summary.counts;
  Json failed = {{"total", counts.failed()}};
  for (std::size_t i = 0; i < counts.failed_by.size(); ++i) failed[tester::kEchoFailures[i]] = counts.failed_by[i];
  const Json document = {
      {"command", summary.command},
      {"server", summary.plan.server.text()},
      {"clients", summary.plan.clients},
      {"message_bytes", summary.plan.message_bytes},
      {"close", name_of(summary.plan.close)},
      {"seed", summary.plan.seed},
      {"elapsed_s", seconds(summary.elapsed_ns)},
      {"beginning_s", seconds(summary.beginning_ns)},
      {"begun", counts.begun},
      {"finished", counts.finished},
      {"failed", failed},
      {"abandoned", counts.abandoned},
      {"last_error", counts.last_error == 0 ? Json(nullptr) : Json(std::strerror(counts.last_error))},
      {"messages", counts.finished},
      {"bytes_sent", counts.bytes_sent},
      {"bytes_received", counts.bytes_received},
      {"ports_skipped", counts.ports_skipped},
      {"connections_per_s", or_null(rate(counts.finished, summary.beginning_ns))},
      {"connection", latency_json(counts.connection_ns)},
      {"echo", latency_json(counts.echo_ns)},
      {"fairness", or_null(tester::jain_index(counts.finished_by_client))},
      {"finished_by_client", counts.finished_by_client},
  };
  return document.dump(2) + "\n";
}

std::string echo_server_text(const EchoServerSummary& summary) {
  const tester::EchoServerCounts& counts = summary.counts;
  std::string text = fmt::format("echo server on {}, {:.3f} s\n", summary.endpoint, seconds(summary.elapsed_ns));
  text += fmt::format(
      "connections {} accepted, {} closed, {} reset, {} timed out, {} failed, {} open; at most {} at a time\n",
      counts.accepted, counts.closed, counts.reset, counts.timed_out, counts.failed, counts.open, counts.most_open);
  text += fmt::format("bytes       {} received, {} sent\n", counts.bytes_received, counts.bytes_sent);
  if (counts.held_back != 0)
    text +=
        fmt::format("held back   {}: not enough open files or memory (ulimit -n)\n", counted(counts.held_back, "time"));
  return text + "command     " + summary.command + "\n";
}

std::string echo_server_json(const EchoServerSummary& summary) {
  const tester::EchoServerCounts& counts = summary.counts;
  const Json document = {
      {"command", summary.command},      {"listen", summary.endpoint},    {"elapsed_s", seconds(summary.elapsed_ns)},
      {"accepted", counts.accepted},     {"closed", counts.closed},       {"reset", counts.reset},
      {"timed_out", counts.timed_out},   {"failed", counts.failed},       {"open", counts.open},
      {"most_open", counts.most_open},   {"held_back", counts.held_back}, {"bytes_received", counts.bytes_received},
      {"bytes_sent", counts.bytes_sent},
  };
  return document.dump(2) + "\n";
}

}  // namespace parshall::cli
