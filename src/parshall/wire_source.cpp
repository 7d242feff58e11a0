// SPDX-License-Identifier: Apache-2.0
#include "parshall/wire_source.hpp"

#include <fmt/format.h>
#include <net/if.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "parshall/open_input.hpp"
#include "traffic/traffic_spec.hpp"

namespace parshall {
namespace {

constexpr std::uint64_t kEndedBytes = std::uint64_t{1} << 30;  ///< memory for ended flows, if the source does not wait

std::optional<Error> traffic_problem(const std::string& text, const SessionOptions& session) {
  const auto spec = TrafficSpec::parse(text, TrafficSpec::kAll);
  if (!spec) return spec.error();
  if (spec->pace_pps != 0 && lanes_of(session) != 1)
    return Error{"traffic at a pace comes in one queue: leave out --workers, or take --threads pipeline"};
  return std::nullopt;
}

std::optional<Error> device_problem(const SourcePlan& source, const SessionOptions& session) {
  if (auto problem = several_problem(source)) return problem;
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint16_t>::max();
  if (source.descriptors > kMost && !is_packet_socket(source))
    return Error{fmt::format("--descriptors {}: a DPDK device holds {} at most", source.descriptors, kMost)};
  const std::size_t workers = workers_of(source, session), queues = queues_of(source, session);
  if (session.threads.model != ThreadModel::pipeline && queues != workers)
    return Error{fmt::format("{} queues for {} workers: give as many of one as of the other, or --threads pipeline",
                             queues, workers)};
  if (session.monitor.biflow && !keeps_directions_together(source, session))
    return Error{
        fmt::format("--biflow: {} may give the two directions of a flow to different workers: give --threads pipeline, "
                    "or one worker",
                    source.interface)};
  if (queues > 1 && session.limits.packets != 0)
    return Error{
        "--count cannot be kept over several receive queues: leave it out, or give --queues 1 and --workers 1"};
  return std::nullopt;
}

/// Returns the observation point. Several interfaces have number 0, an unknown interface (RFC 2863). A device without a
/// kernel number is always number 1.
ObservationPoint point_of(const SourcePlan& source, const Held& held) {
  const std::uint32_t number =
      held.interface_number != 0 ? held.interface_number : ::if_nametoindex(source.interface.c_str());
  return {source.interface, is_packet_socket(source) ? number : std::max(1u, number)};
}

}  // namespace

std::optional<Error> wire_source(const SourcePlan& source, const RunNeeds& needs, const Held& held, Wiring& wiring) {
  SessionOptions& session = wiring.session;
  const bool is_capture = !source.file.empty();
  if (is_capture) {
    session.limits = {.packet_time_ns = source.duration_ns, .pause_every_ns = needs.every_ns};
  } else {
    session.limits.packet_time_ns = needs.packets_ns;
    wiring.wall_duration_ns = source.duration_ns;
  }
  session.limits.packets = source.packets;
  session.ended_bytes = needs.spool_bytes.value_or(is_capture ? SpoolLimits::kUnbounded : kEndedBytes);
  session.batch = source.batch;
  if (!source.file.empty() && (source.via != SourcePlan().via || !source.eal.empty()))
    wiring.notes.emplace_back("--via and --eal are of devices: a file is read without them");
  if (!source.traffic.empty())
    if (auto problem = traffic_problem(source.traffic, session)) return problem;
  if (!source.interface.empty()) {
    if (auto problem = device_problem(source, session)) return problem;
    wiring.point = point_of(source, held);
  }
  if (source.filter.empty()) return std::nullopt;
  if (held.filter) {
    session.filter = held.filter;
    return std::nullopt;
  }
  auto filter = BpfFilter::compile(source.filter);
  if (!filter) return filter.error();
  session.filter = *std::move(filter);
  return std::nullopt;
}

}  // namespace parshall
