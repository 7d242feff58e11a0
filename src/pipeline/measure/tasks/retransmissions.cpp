// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/tasks/flow_finder.hpp"
#include "pipeline/measure/windows/measures/tcp_counts.hpp"

namespace parshall {
namespace {

constexpr Parameter kRetransmissionsParameters[] = {
    {"least", "1", "fewest retransmissions of a flow in the window"},
    {"share", "0", "smallest fraction of its packets with data that are retransmissions, from 0 to 1"},
};

/// Source: "ReTransmission detection" of Tangari et al., MONA, IEEE/ACM ToN 2020, by the rules of analyse_tcp().
std::unique_ptr<Task> make_retransmissions(Arguments& arguments, TaskContext& context) {
  const std::size_t counts = context.measure(TcpCounts::measure()), volume = context.measure(TcpVolume::measure());
  const std::uint64_t least = arguments.count("least", 1, ~std::uint64_t{0});
  const double share = arguments.number("share", 0, 1);
  const auto events = [=](const FlowWindow& flow) -> std::uint64_t {
    const std::uint32_t sent_again = measured_as<TcpCounts>(flow.measured + counts).of(TcpMark::retransmission);
    const double data_packets = measured_as<TcpVolume>(flow.measured + volume).data_packets;
    return sent_again >= least && sent_again >= share * data_packets ? sent_again : 0;
  };
  return std::make_unique<FlowFinder>(
      events, /*counts_events=*/true,
      bind_fields(context, {"tcp_retransmissions", "tcp_data_packets", "tcp_fast_retransmissions",
                            "tcp_spurious_retransmissions", "tcp_out_of_order"}));
}

}  // namespace

extern const TaskEntry kRetransmissions{
    "retransmissions",
    "TCP flows that retransmit data",
    "flow, its packets with data, retransmissions (also fast and spurious ones), and packets out of order",
    "what a capture point can know (docs/accuracy.md)",
    kRetransmissionsParameters,
    make_retransmissions};

}  // namespace parshall
