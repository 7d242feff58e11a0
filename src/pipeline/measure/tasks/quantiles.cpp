// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pipeline/measure/sketches/dd_sketch.hpp"
#include "pipeline/measure/tasks/fields.hpp"
#include "pipeline/measure/tasks/task.hpp"

namespace parshall {
namespace {

constexpr Parameter kQuantilesParameters[] = {
    {"of", "wire_bytes", "a number of each flow in the window (parshall list fields)"},
    {"error", "0.01", "relative error of the quantiles"},
};
constexpr struct {
  std::string_view name;
  double share;
} kQuantiles[] = {{"p10", 0.1}, {"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}};

/// Computes quantiles of a field over the window's flows; flows without the field are left out. Error: DdSketch's.
class FlowQuantiles final : public Task {
 public:
  FlowQuantiles(Arguments& arguments, TaskContext& context)
      : error_(arguments.number("error", 0.0001, 0.5)), sketch_(error_) {
    if (const FlowField* const field = find_field(arguments.text("of")))
      field_ = context.field(*field);
    else
      arguments.complain(fmt::format("of={}: no such number of a flow (parshall list fields)", arguments.text("of")));
  }

  void flows(std::span<const FlowWindow> flows) override {
    for (const FlowWindow& flow : flows) {
      const auto value = field_->of(flow);
      if (!value || flow.stands_for == 0) continue;
      sketch_.add(*value, flow.stands_for);
      weights_ += flow.stands_for;
      squares_ += static_cast<double>(flow.stands_for) * flow.stands_for;
    }
  }

  void end(EventWriter& events) override {
    if (sketch_.count() == 0) return;
    std::vector<EventValue> values{{"flows", sketch_.count()}};
    for (const auto& [name, share] : kQuantiles)
      values.push_back({fmt::format("{}_{}", field_->name(), name), *sketch_.quantile(share)});
    std::vector<EventValue> error{{fmt::format("{}_relative", field_->name()), error_}};
    const WindowTotals& totals = events.window().totals;
    if (totals.one_in != 1) error.push_back({"rank_within", rank_error()});
    if (const std::uint64_t untold = totals.untold_flows() - totals.shed_packets; untold != 0)
      error.push_back({"flows_missing", untold});
    events.write_summary(std::move(values), std::move(error));
    sketch_.clear();
    weights_ = squares_ = 0;
  }

 private:
  /// Returns, under sampling, how far the fraction of flows below a quantile may be off, with 95 % confidence. Uses
  /// Dvoretzky, Kiefer and Wolfowitz with Massart's constant, for connections of at most two flows. Flows of different
  /// weights count as fewer equal ones (Kish).
  double rank_error() const noexcept {
    return std::min(1.0, std::sqrt(std::log(2 / 0.05) * squares_ / (weights_ * weights_)));
  }

  std::optional<BoundField> field_;
  double error_;
  DdSketch sketch_;
  double weights_ = 0, squares_ = 0;  ///< sums over the flows of the number that each stands for, and of its square
};

}  // namespace

extern const TaskEntry kFlowQuantiles{"quantiles",
                                      "quantiles of a number over the flows of the window",
                                      "p10, p50, p90, p99 and p99.9, and the number of flows",
                                      "within the relative error asked for",
                                      kQuantilesParameters,
                                      [](Arguments& arguments, TaskContext& context) -> std::unique_ptr<Task> {
                                        return std::make_unique<FlowQuantiles>(arguments, context);
                                      },
                                      /*finds_any=*/false};

}  // namespace parshall
