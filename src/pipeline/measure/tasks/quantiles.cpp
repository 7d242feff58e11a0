// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

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
    for (const FlowWindow& flow : flows)
      if (const auto value = field_->of(flow)) sketch_.add(*value);
  }

  void end(EventWriter& events) override {
    if (sketch_.count() == 0) return;
    std::vector<EventValue> values{{"flows", sketch_.count()}};
    for (const auto& [name, share] : kQuantiles)
      values.push_back({fmt::format("{}_{}", field_->name(), name), *sketch_.quantile(share)});
    std::vector<EventValue> error{{fmt::format("{}_relative", field_->name()), error_}};
    if (const std::uint64_t untold = events.window().totals.untold_flows(); untold != 0)
      error.push_back({"flows_missing", untold});
    events.write_summary(std::move(values), std::move(error));
    sketch_.clear();
  }

 private:
  std::optional<BoundField> field_;
  double error_;
  DdSketch sketch_;
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
