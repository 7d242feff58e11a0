// SPDX-License-Identifier: Apache-2.0
#include "parshall/wire_source.hpp"

#include <net/if.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "parshall/sources/source_kind.hpp"

namespace parshall {
namespace {

constexpr std::uint64_t kEndedBytes = std::uint64_t{1} << 30;  ///< memory for ended flows, if the source does not wait

/// Returns the observation point. Several interfaces have number 0, an unknown interface (RFC 2863). A device without a
/// kernel number is always number 1.
ObservationPoint point_of(const SourceKind& kind, const SourcePlan& source, const Held& held) {
  std::string name = kind.name_in(source);
  const std::uint32_t number = held.interface_number != 0 ? held.interface_number : ::if_nametoindex(name.c_str());
  return {std::move(name), kind.interfaces != nullptr ? number : std::max(1u, number)};
}

}  // namespace

std::optional<Error> wire_source(const SourcePlan& source, const RunNeeds& needs, const Held& held, Wiring& wiring) {
  SessionOptions& session = wiring.session;
  const SourceKind& kind = kind_of(source);
  if (kind.is_capture) {
    session.limits = {.packet_time_ns = source.duration_ns, .pause_every_ns = needs.every_ns};
  } else {
    session.limits.packet_time_ns = needs.packets_ns;
    wiring.wall_duration_ns = source.duration_ns;
  }
  session.limits.packets = source.packets;
  session.ended_bytes = needs.spool_bytes.value_or(kind.is_capture ? SpoolLimits::kUnbounded : kEndedBytes);
  session.batch = source.batch;
  if (kind.is_capture && (source.via != SourcePlan().via || !source.eal.empty()))
    wiring.notes.emplace_back("--via and --eal are of devices: a file is read without them");
  if (kind.problem != nullptr)
    if (auto problem = kind.problem(source, session)) return problem;
  if (kind.is_link) wiring.point = point_of(kind, source, held);
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
