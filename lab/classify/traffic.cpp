// SPDX-License-Identifier: Apache-2.0
#include "lab/classify/traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/figures/harness.hpp"
#include "lab/classify/replay_source.hpp"

namespace parshall::lab {
namespace {

constexpr std::size_t kBatch = 256;

}  // namespace

Result<ClassifyTraffic> ClassifyTraffic::of_trains(const std::string& spec, Line line) {
  const auto parsed = TrafficSpec::parse(spec, TrafficSpec::kAll);
  if (!parsed) return parsed.error();
  if (parsed->train_packets == 0 || parsed->pace_pps != 0)
    return Error{fmt::format("-g {}: all flows must be new: give dist=trains:PACKETS, and no pace", spec)};
  auto made = Trace::make(*parsed);
  if (!made) return made.error();
  ClassifyTraffic traffic;
  traffic.line_ = line;
  traffic.trains_ = std::make_shared<const Trace>(*std::move(made));
  traffic.description_ = spec;
  traffic.cap_frames(0);
  return traffic;
}

Result<ClassifyTraffic> ClassifyTraffic::of_file(const std::string& path, std::size_t most_packets, double gbps) {
  auto trace = ReplayTrace::of_file(path, most_packets);
  if (!trace) return trace.error();
  ClassifyTraffic traffic;
  traffic.line_ = {.mpps = 0, .gbps = gbps};
  traffic.warning_ = trace->warning();
  traffic.description_ =
      fmt::format("headers of {}: {} packets of {} flows, {:.0f} bytes on average, {} packets that belong to no flow{}",
                  path.substr(path.find_last_of('/') + 1), trace->size(), trace->flows(), trace->mean_frame_bytes(),
                  trace->size() - trace->flow_packets(),
                  trace->fixed_packets() == 0
                      ? ""
                      : fmt::format(", {} whose flow is the same at each repetition", trace->fixed_packets()));
  traffic.replayed_ = std::make_shared<const ReplayTrace>(*std::move(trace));
  traffic.cap_frames(0);
  return traffic;
}

void ClassifyTraffic::cap_frames(std::uint32_t cap) {
  schedules_.clear();
  cap_ = cap;
  const auto on_line = [cap](std::uint32_t frame) { return line_bytes(cap == 0 ? frame : std::min(frame, cap)); };
  if (trains_) {
    bytes_per_packet_ = static_cast<double>(on_line(trains_->longest_frame()));
    return;
  }
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < replayed_->size(); ++i) bytes += on_line(replayed_->packet(i).frame_bytes);
  bytes_per_packet_ = static_cast<double>(bytes) / static_cast<double>(replayed_->size());
}

double ClassifyTraffic::mpps() const noexcept {
  return line_.mpps != 0 ? line_.mpps : line_.gbps * 1e3 / 8 / bytes_per_packet_;
}

double ClassifyTraffic::gbps() const noexcept {
  return line_.mpps != 0 ? line_.mpps * 8 / 1e3 * bytes_per_packet_ : line_.gbps;
}

std::unique_ptr<PacketSource> ClassifyTraffic::source(Place place, double load, std::size_t queue_packets,
                                                      PacedSource::Clock clock) {
  if (replayed_) {
    auto& schedule = schedules_[{place.queue, place.queues}];
    if (!schedule) schedule = std::make_shared<const ReplaySchedule>(*replayed_, cap_, place.queue, place.queues);
    return std::make_unique<ReplaySource>(replayed_, schedule, place.interface, line_.gbps * load, queue_packets,
                                          kTrafficStartNs, std::move(clock));
  }
  const Pace pace(mpps() * 1e6 * load / static_cast<double>(place.queues));
  auto source = std::make_unique<PacedSource>(trains_, pace, queue_packets, kTrafficStartNs, std::move(clock));
  // Enough for hours at line rate, of the 2^48 trains that exist.
  constexpr std::uint64_t kPacketsOfAQueue = std::uint64_t{1} << 40;
  source->play_from((place.interface * place.queues + place.queue) * kPacketsOfAQueue);
  return source;
}

double ClassifyTraffic::source_ns() {
  constexpr std::size_t kPackets = std::size_t{1} << 20, kQueue = 4 * kBatch;
  const auto step_ns = static_cast<std::uint64_t>(kBatch * 1e3 / mpps());
  const auto source =
      this->source({}, 1, kQueue, [now_ns = std::uint64_t{0}, step_ns]() mutable { return now_ns += step_ns; });
  std::array<RawPacket, kBatch> batch;
  double began_ns = 0;
  std::size_t polled = 0;
  for (std::size_t done = 0; done < 2 * kPackets;) {
    if (done >= kPackets && began_ns == 0) began_ns = thread_cpu_ns(), polled = done;
    done += source->poll(batch);
  }
  const double taken_ns = thread_cpu_ns() - began_ns;
  return taken_ns / static_cast<double>(2 * kPackets - polled);
}

}  // namespace parshall::lab
