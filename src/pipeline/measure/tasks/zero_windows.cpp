// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/tasks/flow_finder.hpp"
#include "pipeline/measure/windows/measures/tcp_counts.hpp"

namespace parshall {
namespace {

constexpr Parameter kZeroWindowsParameters[] = {
    {"least", "1", "fewest packets with a zero window in the window"},
};

std::unique_ptr<Task> make_zero_windows(Arguments& arguments, TaskContext& context) {
  const std::size_t offset = context.measure(TcpCounts::measure());
  const std::uint64_t least = arguments.count("least", 1, ~std::uint64_t{0});
  const auto events = [=](const FlowWindow& flow) -> std::uint64_t {
    const std::uint32_t packets = measured_as<TcpCounts>(flow.measured + offset).of(TcpMark::zero_window);
    return packets >= least ? packets : 0;
  };
  return std::make_unique<FlowFinder>(events, /*counts_events=*/true, bind_fields(context, {"tcp_zero_windows"}));
}

}  // namespace

extern const TaskEntry kZeroWindows{"zero-windows",
                                    "TCP flows whose sender announces a receive window of zero",
                                    "flow, and the number of packets with a zero window",
                                    "exact",
                                    kZeroWindowsParameters,
                                    make_zero_windows};

}  // namespace parshall
