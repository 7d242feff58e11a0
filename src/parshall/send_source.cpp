// SPDX-License-Identifier: Apache-2.0
#include "parshall/send_source.hpp"

#include <utility>

#include "traffic/capture_loops.hpp"
#include "traffic/memory_source.hpp"

namespace parshall {

Result<std::unique_ptr<PacketSource>> play(const TrafficSpec& spec) {
  auto trace = Trace::make(spec);
  if (!trace) return trace.error();
  return std::unique_ptr<PacketSource>(std::make_unique<MemorySource>(std::make_shared<const Trace>(*std::move(trace)),
                                                                      ~std::uint64_t{0}, kTrafficStartNs));
}

Result<SendSource> open_send_source(const SendOptions& options, const SendChoices& choices) {
  if (options.capture.empty()) {
    auto traffic = play(choices.traffic);
    if (!traffic) return traffic.error();
    return SendSource{.name = "built-in traffic " + options.traffic,
                      .packets = *std::move(traffic),
                      .writer = std::make_unique<FrameCopier>()};
  }
  auto capture = CaptureLoops::open(options.capture, options.loops);
  if (!capture) return capture.error();
  auto writer = std::make_unique<ReplayWriter>(choices.changes, [capture = capture->get()] { return capture->loop(); });
  return SendSource{.name = options.capture == "-" ? "standard input" : options.capture,
                    .packets = *std::move(capture),
                    .writer = std::move(writer)};
}

}  // namespace parshall
