// SPDX-License-Identifier: Apache-2.0
#include "tester/commands/loss_report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "base/counted.hpp"
#include "base/or_null.hpp"
#include "tester/watch_loss/overall_loss.hpp"

namespace parshall::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kMixed =
    "more packets were counted or received than were sent: other traffic, or both directions, may hide losses";

template <class T>
std::string or_dash(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : "-";
}

Json run_json(const tester::MonitorRun& run) {
  Json kernel = nullptr;
  if (run.kernel) kernel = {{"received", run.kernel->received}, {"receive_dropped", run.kernel->receive_dropped}};
  return {{"sent", run.sent},
          {"kernel", kernel},
          {"offered", run.offered},
          {"counted", run.counted},
          {"lost", run.lost()},
          {"loss_ratio", or_null(run.loss())},
          {"drops_told", or_null(run.drops)}};
}

std::string ratio_text(const tester::OverallLoss& loss, std::size_t runs) {
  if (!loss.ratio) return fmt::format("loss ratio  unknown: in {} of {}, {}", loss.mixed, counted(runs, "run"), kMixed);
  std::string text = fmt::format("loss ratio  {:.3g}", *loss.ratio);
  if (loss.upper_of_none)
    return text + fmt::format(": none of {} in {}; with 95 % confidence below {:.2g}", counted(loss.offered, "packet"),
                              counted(runs, "run"), *loss.upper_of_none);
  if (!loss.low) return text + " (one run has no interval)";
  return text + fmt::format(", 95 % interval {:.3g} to {:.3g} (Student's t over {} runs)", *loss.low, *loss.high, runs);
}

}  // namespace

std::string loss_text(const LossSummary& summary) {
  std::string text = fmt::format("monitor  {}\nsender   {}\n\n", summary.monitor, summary.sender);
  text += fmt::format("{:>4} {:>12} {:>12} {:>12} {:>12} {:>12} {:>11} {:>12}\n", "run", "sent", "received", "dropped",
                      "counted", "lost", "loss ratio", "reported");
  for (std::size_t i = 0; i < summary.runs.size(); ++i) {
    const tester::MonitorRun& run = summary.runs[i];
    std::optional<std::uint64_t> received, dropped;
    if (run.kernel) received = run.kernel->received, dropped = run.kernel->receive_dropped;
    text += fmt::format("{:>4} {:>12} {:>12} {:>12} {:>12} {:>12} {:>11} {:>12}\n", i + 1, run.sent, or_dash(received),
                        or_dash(dropped), run.counted, run.lost(),
                        run.loss() ? fmt::format("{:.3g}", *run.loss()) : "unknown", or_dash(run.drops));
  }
  return text + "\n" + ratio_text(tester::overall_loss(summary.runs), summary.runs.size()) + "\ncommand     " +
         summary.command + "\n";
}

std::string loss_json(const LossSummary& summary) {
  const tester::OverallLoss loss = tester::overall_loss(summary.runs);
  Json runs = Json::array();
  for (const tester::MonitorRun& run : summary.runs) runs.push_back(run_json(run));
  const Json document = {
      {"command", summary.command},
      {"monitor", summary.monitor},
      {"sender", summary.sender},
      {"offered", loss.offered},
      {"lost", loss.lost},
      {"loss_ratio", or_null(loss.ratio)},
      {"loss_ratio_low95", or_null(loss.low)},
      {"loss_ratio_high95", or_null(loss.high)},
      {"loss_ratio_upper95_of_none", or_null(loss.upper_of_none)},
      {"not_known", loss.mixed > 0 ? Json(kMixed) : Json(nullptr)},
      {"runs", runs},
  };
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace parshall::cli
