// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/tasks/flow_finder.hpp"
#include "pipeline/measure/windows/measures/bursts.hpp"

namespace parshall {
namespace {

constexpr Parameter kBurstyParameters[] = {
    {"within", "1ms", "longest time since the flow's previous packet, for a packet in a burst"},
    {"share", "0.1", "smallest fraction of a flow's packets in bursts, from 0 to 1"},
    {"packets", "10", "fewest packets of a flow in the window"},
};

constexpr FlowField kBurstPackets{"burst_packets", "packets that came in bursts",
                                  [](const FlowWindow&, const std::byte* measured) -> std::optional<double> {
                                    return measured_as<Bursts>(measured).packets;
                                  },
                                  nullptr, FlowField::Kind::count};

/// Source: "Bursty flow detection" of Tangari et al., MONA, IEEE/ACM ToN 2020.
std::unique_ptr<Task> make_bursty(Arguments& arguments, TaskContext& context) {
  const std::size_t offset = context.measure(Bursts::within(arguments.duration_ns("within", 1)));
  const double share = arguments.number("share", 0, 1);
  const std::uint64_t packets = arguments.count("packets", 1, ~std::uint64_t{0});
  const auto wanted = [=](const FlowWindow& flow) {
    const auto bursts = static_cast<double>(measured_as<Bursts>(flow.measured + offset).packets);
    return flow.packets >= packets && bursts >= share * static_cast<double>(flow.packets);
  };
  return std::make_unique<FlowFinder>(wanted, /*counts_events=*/false, std::vector{BoundField(kBurstPackets, offset)});
}

}  // namespace

extern const TaskEntry kBursty{"bursty",
                               "flows with many packets shortly after each other",
                               "flow, its packets, and those of them that came in bursts",
                               "exact",
                               kBurstyParameters,
                               make_bursty,
                               /*finds_any=*/true,
                               /*looks_at_flows=*/true,
                               Severity::info};

}  // namespace parshall
