// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/tasks/flow_finder.hpp"
#include "pipeline/measure/windows/measures/round_trips.hpp"

namespace parshall {
namespace {

constexpr Parameter kLatencyChangeParameters[] = {
    {"beta", "2", "a change is a round-trip time this number of standard deviations from the flow's mean"},
    {"after", "8", "fewest earlier round-trip times of the flow"},
    {"least", "1", "fewest changes of a flow in the window"},
};

constexpr FlowField kChanges{"latency_changes", "round-trip times that were changes",
                             [](const FlowWindow&, const std::byte* measured) -> std::optional<double> {
                               return measured_as<LatencyChanges>(measured).changes;
                             },
                             nullptr, FlowField::Kind::count};

/// Source: "Latency Change detection" of Tangari et al., MONA, IEEE/ACM ToN 2020.
std::unique_ptr<Task> make_latency_change(Arguments& arguments, TaskContext& context) {
  const double beta = arguments.number("beta", 0, 1e6);
  const auto after = static_cast<std::uint32_t>(arguments.count("after", 2, 1'000'000'000));
  const std::uint64_t least = arguments.count("least", 1, ~std::uint64_t{0});
  const std::size_t offset = context.measure(LatencyChanges::beyond(beta, after));
  const auto events = [=](const FlowWindow& flow) -> std::uint64_t {
    const std::uint64_t changes = measured_as<LatencyChanges>(flow.measured + offset).changes;
    return changes >= least ? changes : 0;
  };
  std::vector<BoundField> shown = bind_fields(context, {"rtt_samples", "rtt_min_ms", "rtt_mean_ms", "rtt_max_ms"});
  shown.insert(shown.begin(), BoundField(kChanges, offset));
  return std::make_unique<FlowFinder>(events, /*counts_events=*/true, std::move(shown));
}

}  // namespace

extern const TaskEntry kLatencyChange{
    "latency-change",
    "TCP flows whose round-trip time changes",
    "flow, number of round-trip times that were changes, and their minimum, mean and maximum",
    "exact for the round trips seen from the capture point; ambiguous ones are left out",
    kLatencyChangeParameters,
    make_latency_change};

}  // namespace parshall
