// SPDX-License-Identifier: Apache-2.0
#include "app/send_report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/counted.hpp"
#include "base/escaped.hpp"
#include "base/or_null.hpp"
#include "pipeline/output/format.hpp"
#include "traffic/frame.hpp"

namespace parshall::cli {
namespace {

constexpr double kPercentiles[] = {0.5, 0.99, 0.999};

}  // namespace

std::optional<double> SendSummary::rate_pps() const noexcept {
  if (counts.sent < 2 || elapsed_ns == 0) return std::nullopt;
  return static_cast<double>(counts.sent - 1) * 1e9 / static_cast<double>(elapsed_ns);
}

std::optional<double> SendSummary::line_bps() const noexcept {
  const auto pps = rate_pps();
  if (!pps) return std::nullopt;
  return *pps * 8 * static_cast<double>(counts.line_bytes) / static_cast<double>(counts.sent);
}

std::string send_summary_text(const SendSummary& summary) {
  const SendCounts& counts = summary.counts;
  std::string text = fmt::format("{} -> {}\n", escaped(summary.source), escaped(summary.destination));
  text += fmt::format("sent      {}, {}, in {:.3f} s{}\n", counted(summary.sent(), "frame"),
                      counted(counts.bytes, "byte"), static_cast<double>(summary.elapsed_ns) * 1e-9,
                      summary.time == SendTime::stamped ? " of time stamps" : "");
  if (const auto pps = summary.rate_pps())
    text += fmt::format("rate      {}, {} on the line; requested {}\n", scaled_text(*pps, "pps"),
                        scaled_text(*summary.line_bps(), "bit/s"), summary.asked);
  if (const ValueHistogram& late = *summary.lateness_ns; late.count() != 0)
    text += fmt::format("late by   max {:.1f} us, median {:.1f}, p99 {:.1f}, p99.9 {:.1f}\n",
                        static_cast<double>(*late.largest()) * 1e-3, *late.quantile(kPercentiles[0]) * 1e-3,
                        *late.quantile(kPercentiles[1]) * 1e-3, *late.quantile(kPercentiles[2]) * 1e-3);
  text += fmt::format("not sent  {} refused, {} too long, {} without a frame, {} too late, {} dropped by the device\n",
                      counts.refused, counts.too_long, counts.unsendable, counts.unsent, summary.dropped);
  return text + "command   " + summary.command + "\n";
}

std::string send_summary_json(const SendSummary& summary) {
  const SendCounts& counts = summary.counts;
  const ValueHistogram& late = *summary.lateness_ns;
  nlohmann::ordered_json lateness = nullptr;
  if (late.count() != 0) {
    lateness = {{"mean_ns", or_null(late.mean())}};
    for (const double p : kPercentiles) lateness[fmt::format("p{}_ns", p * 100)] = or_null(late.quantile(p));
    lateness["max_ns"] = *late.largest();
  }
  const nlohmann::ordered_json document = {
      {"command", summary.command},
      {"source", summary.source},
      {"destination", summary.destination},
      {"rate_asked", summary.asked},
      {"taken", counts.taken},
      {"sent", summary.sent()},
      {"sent_bytes", counts.bytes},
      {"refused", counts.refused},
      {"too_long", counts.too_long},
      {"unsendable", counts.unsendable},
      {"unsent", counts.unsent},
      {"dropped", summary.dropped},
      {"elapsed_s", static_cast<double>(summary.elapsed_ns) * 1e-9},
      {"rate_pps", or_null(summary.rate_pps())},
      {"line_bps", or_null(summary.line_bps())},
      {"lateness", lateness},
  };
  return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace parshall::cli
