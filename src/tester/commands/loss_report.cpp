// SPDX-License-Identifier: Apache-2.0
#include "tester/commands/loss_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/mean_interval.hpp"
#include "base/or_null.hpp"

namespace parshall::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Of all runs together.
struct Loss {
  std::uint64_t offered = 0, lost = 0;
  MeanInterval ratio;

  explicit Loss(const std::vector<tester::MonitorRun>& runs) {
    std::vector<double> ratios;
    for (const tester::MonitorRun& run : runs) {
      offered += run.offered;
      lost += run.lost();
      ratios.push_back(run.loss());
    }
    ratio = mean_interval(ratios);
  }

  /// Where nothing was lost.
  std::optional<double> upper_of_none() const {
    return lost == 0 && offered != 0 ? std::optional(parshall::upper_of_none(offered)) : std::nullopt;
  }
  std::optional<double> low() const {
    return ratio.half_width ? std::optional(std::max(0.0, ratio.mean - *ratio.half_width)) : std::nullopt;
  }
  std::optional<double> high() const {
    return ratio.half_width ? std::optional(std::min(1.0, ratio.mean + *ratio.half_width)) : std::nullopt;
  }
};

template <class T>
std::string or_dash(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : "-";
}

Json run_json(const tester::MonitorRun& run) {
  Json kernel = nullptr;
  if (run.kernel) kernel = {{"received", run.kernel->received}, {"receive_dropped", run.kernel->receive_dropped}};
  return {{"sent", run.sent},   {"kernel", kernel},         {"offered", run.offered},          {"counted", run.counted},
          {"lost", run.lost()}, {"loss_ratio", run.loss()}, {"drops_told", or_null(run.drops)}};
}

}  // namespace

std::string loss_text(const LossSummary& summary) {
  std::string text = fmt::format("monitor  {}\nsender   {}\n\n", summary.monitor, summary.sender);
  text += fmt::format("{:>4} {:>12} {:>12} {:>12} {:>12} {:>12} {:>11} {:>12}\n", "run", "sent", "received", "dropped",
                      "counted", "lost", "loss ratio", "drops told");
  for (std::size_t i = 0; i < summary.runs.size(); ++i) {
    const tester::MonitorRun& run = summary.runs[i];
    std::optional<std::uint64_t> received, dropped;
    if (run.kernel) received = run.kernel->received, dropped = run.kernel->receive_dropped;
    text += fmt::format("{:>4} {:>12} {:>12} {:>12} {:>12} {:>12} {:>11.3g} {:>12}\n", i + 1, run.sent,
                        or_dash(received), or_dash(dropped), run.counted, run.lost(), run.loss(), or_dash(run.drops));
  }
  const Loss loss(summary.runs);
  text += fmt::format("\nloss ratio  {:.3g}", loss.ratio.mean);
  if (const auto upper = loss.upper_of_none()) {
    text += fmt::format(": none of {} packets in {} runs; with 95 % confidence below {:.2g}", loss.offered,
                        summary.runs.size(), *upper);
  } else if (loss.ratio.half_width) {
    text += fmt::format(", 95 % interval {:.3g} to {:.3g} (Student's t over {} runs)", *loss.low(), *loss.high(),
                        summary.runs.size());
  } else {
    text += " (one run has no interval)";
  }
  if (std::ranges::any_of(summary.runs, [](const auto& run) { return run.counted > run.offered; }))
    text += "\nmore       was counted than was sent in some runs: other traffic, or both directions";
  return text + "\ncommand     " + summary.command + "\n";
}

std::string loss_json(const LossSummary& summary) {
  const Loss loss(summary.runs);
  Json runs = Json::array();
  for (const tester::MonitorRun& run : summary.runs) runs.push_back(run_json(run));
  const Json document = {
      {"command", summary.command},
      {"monitor", summary.monitor},
      {"sender", summary.sender},
      {"offered", loss.offered},
      {"lost", loss.lost},
      {"loss_ratio", loss.ratio.mean},
      {"loss_ratio_low95", or_null(loss.low())},
      {"loss_ratio_high95", or_null(loss.high())},
      {"loss_ratio_upper95_of_none", or_null(loss.upper_of_none())},
      {"runs", runs},
  };
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace parshall::cli
