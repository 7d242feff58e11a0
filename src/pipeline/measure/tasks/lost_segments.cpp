// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/tasks/flow_finder.hpp"
#include "pipeline/measure/windows/measures/tcp_counts.hpp"

namespace parshall {
namespace {

constexpr Parameter kLostSegmentsParameters[] = {
    {"least", "1", "fewest gaps and acknowledgements of unseen data of a flow in the window"},
};

/// Reports TCP flows with segments that were not seen, and a summary of all flows. Data that receivers acknowledged but
/// that was never seen was lost by the capture, not by the network.
class LostSegments final : public FlowFinder {
 public:
  LostSegments(Events events, std::vector<BoundField> shown, std::size_t counts, std::size_t volume)
      : FlowFinder(std::move(events), /*counts_events=*/true, std::move(shown)), counts_(counts), volume_(volume) {}

  void flows(std::span<const FlowWindow> flows) override {
    for (const FlowWindow& flow : flows) {
      const auto counts = measured_as<TcpCounts>(flow.measured + counts_);
      packets_ += measured_as<TcpVolume>(flow.measured + volume_).packets;
      lost_ += counts.of(TcpMark::lost_segment);
      unseen_ += counts.of(TcpMark::ack_unseen);
    }
    FlowFinder::flows(flows);
  }

  void end(EventWriter& events) override {
    if (packets_ != 0)
      events.write_summary({{"tcp_packets", packets_}, {"tcp_lost_segments", lost_}, {"tcp_acked_unseen", unseen_}},
                           {});
    packets_ = lost_ = unseen_ = 0;
    FlowFinder::end(events);
  }

 private:
  std::size_t counts_, volume_;
  std::uint64_t packets_ = 0, lost_ = 0, unseen_ = 0;
};

std::unique_ptr<Task> make_lost_segments(Arguments& arguments, TaskContext& context) {
  const std::size_t offset = context.measure(TcpCounts::measure());
  const std::uint64_t least = arguments.count("least", 1, ~std::uint64_t{0});
  const auto events = [=](const FlowWindow& flow) -> std::uint64_t {
    const auto counts = measured_as<TcpCounts>(flow.measured + offset);
    const std::uint64_t lost = std::uint64_t{counts.of(TcpMark::lost_segment)} + counts.of(TcpMark::ack_unseen);
    return lost >= least ? lost : 0;
  };
  return std::make_unique<LostSegments>(events, bind_fields(context, {"tcp_lost_segments", "tcp_acked_unseen"}), offset,
                                        context.measure(TcpVolume::measure()));
}

}  // namespace

extern const TaskEntry kLostSegments{
    "lost-segments",
    "TCP segments that were not captured: lost before this point, or by the capture",
    "TCP packets, gaps, and acknowledgements of data that was not captured; in all, and of each flow",
    "a gap is not counted if its segments arrive later",
    kLostSegmentsParameters,
    make_lost_segments};

}  // namespace parshall
