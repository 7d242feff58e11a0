// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/tasks/task.hpp"

namespace parshall {
namespace {

/// Packets and bytes of all traffic. Error: none.
class Count final : public Task {
 public:
  explicit Count(std::uint64_t states) : states_(states) {}

  void flows(std::span<const FlowWindow> flows) override {
    for (const FlowWindow& flow : flows) {
      flows_ += flow.first_in(states_);
      new_flows_ += flow.starts;
    }
  }

  void end(EventWriter& events) override {
    const WindowTotals& totals = events.window().totals;
    std::vector<EventValue> error;
    if (totals.untold_flows() != 0) error = {{"flows_missing", totals.untold_flows()}};
    std::vector<EventValue> values{{"packets", totals.packets},       {"ip_bytes", totals.ip_bytes},
                                   {"wire_bytes", totals.wire_bytes}, {"flows", flows_},
                                   {"new_flows", new_flows_},         {"late_packets", totals.late_packets}};
    if (totals.kept_out_packets != 0) values.push_back({"kept_out_packets", totals.kept_out_packets});
    events.write_summary(std::move(values), std::move(error));
    flows_ = new_flows_ = 0;
  }

 private:
  std::uint64_t states_;
  std::uint64_t flows_ = 0, new_flows_ = 0;
};

}  // namespace

extern const TaskEntry kCount{
    "count",
    "packets, bytes and flows of all traffic",
    "its packets, bytes, flows and late packets, and how many packets the flood filter kept out",
    "exact",
    {},
    [](Arguments&, TaskContext& context) -> std::unique_ptr<Task> { return std::make_unique<Count>(context.states()); },
    /*finds_any=*/false};

}  // namespace parshall
