// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/tasks/missing.hpp"
#include "pipeline/measure/tasks/task.hpp"

namespace parshall {
namespace {

/// Counts packets and bytes of all traffic. Error: none.
class Count final : public Task {
 public:
  explicit Count(std::uint64_t states) : states_(states) {}

  void flows(std::span<const FlowWindow> flows) override {
    for (const FlowWindow& flow : flows) counts_.add(flow, states_);
  }

  void unread(const UnreadFlows& flows) override { counts_.add(flows); }

  void end(EventWriter& events) override {
    const WindowTotals& totals = events.window().totals;
    std::vector<EventValue> error;
    if (const std::uint64_t untold = untold_of(events.window()).flows; untold != 0)
      error.push_back({"flows_missing", untold});
    std::vector<EventValue> values{{"packets", totals.packets},       {"ip_bytes", totals.ip_bytes},
                                   {"wire_bytes", totals.wire_bytes}, {"flows", counts_.flows},
                                   {"new_flows", counts_.new_flows},  {"late_packets", totals.late_packets}};
    if (totals.kept_out_packets != 0) values.push_back({"kept_out_packets", totals.kept_out_packets});
    events.write_summary(std::move(values), std::move(error));
    counts_ = {};
  }

 private:
  std::uint64_t states_;
  KeyCounts counts_;
};

}  // namespace

extern const TaskEntry kCount{
    "count",
    "packets, bytes and flows of all traffic",
    "packets, bytes, flows and late packets, and packets that the flood filter kept out",
    "exact",
    {},
    [](Arguments&, TaskContext& context) -> std::unique_ptr<Task> { return std::make_unique<Count>(context.states()); },
    /*finds_any=*/false,
    /*looks_at_flows=*/false};

}  // namespace parshall
