// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <bit>

#include "pipeline/measure/tasks/task.hpp"

namespace parshall {
namespace {

constexpr std::string_view kAmountNames[] = {"packets", "ip_bytes", "wire_bytes"};
constexpr std::uint64_t FlowWindow::*kAmountOf[] = {&FlowWindow::packets, &FlowWindow::ip_bytes,
                                                    &FlowWindow::wire_bytes};

constexpr Parameter kFlowSizesParameters[] = {
    {"by", "packets", "size of a flow: packets, ip_bytes or wire_bytes"},
};

/// Counts how many flows of the window have 1, 2 to 3, 4 to 7, ... packets or bytes. Error: none.
class FlowSizes final : public Task {
 public:
  FlowSizes(Arguments& arguments, TaskContext&) : by_(arguments.choice("by", kAmountNames)) {}

  void flows(std::span<const FlowWindow> flows) override {
    for (const FlowWindow& flow : flows) ++octaves_[static_cast<std::size_t>(std::bit_width(flow.*kAmountOf[by_]))];
  }

  void end(EventWriter& events) override {
    std::vector<EventValue> values, error;
    for (std::size_t width = 0; width < octaves_.size(); ++width) {
      if (octaves_[width] == 0) continue;
      const std::uint64_t low = width == 0 ? 0 : std::uint64_t{1} << (width - 1);
      values.push_back({fmt::format("flows_from_{}_{}", low, kAmountNames[by_]), octaves_[width]});
    }
    if (const std::uint64_t untold = events.window().totals.untold_flows(); untold != 0)
      error.push_back({"flows_missing", untold});
    if (!values.empty()) events.write_summary(std::move(values), std::move(error));
    octaves_ = {};
  }

 private:
  std::size_t by_;
  std::array<std::uint64_t, 65> octaves_{};
};

}  // namespace

extern const TaskEntry kFlowSizes{"flow-sizes",
                                  "number of flows with 1, 2 to 3, 4 to 7, ... packets or bytes in a window",
                                  "flows from each power of two to the next",
                                  "exact",
                                  kFlowSizesParameters,
                                  [](Arguments& arguments, TaskContext& context) -> std::unique_ptr<Task> {
                                    return std::make_unique<FlowSizes>(arguments, context);
                                  },
                                  /*finds_any=*/false};

}  // namespace parshall
