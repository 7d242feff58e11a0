// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <utility>

#include "base/escaped.hpp"
#include "parshall/sources/lanes.hpp"
#include "parshall/sources/source_kind.hpp"
#include "pipeline/capture/capture_parser.hpp"
#include "pipeline/capture/compressed/formats.hpp"
#include "pipeline/capture/pcap_file.hpp"
#include "pipeline/capture/turn_source.hpp"
#include "pipeline/decode/layers.hpp"

namespace parshall {
namespace {

std::string capture_help() {
  std::string compressions;
  for (const CompressedFormat& format : compressed_formats())
    compressions += fmt::format("{}{}", compressions.empty() ? "" : ", ", format.name);
  return fmt::format("pcap, pcapng or ERF, - for standard input; also compressed ({})", compressions);
}

/// Returns true if workers can take turns at reading windows of packets for each other. That needs a flow table, and no
/// worker may have to stop at a packet time, or to read the payload of what another one decoded.
bool can_take_turns(const SessionOptions& session) {
  return lanes_of(session) > 1 && session.threads.model == ThreadModel::run_to_completion && session.table != nullptr &&
         session.limits.pause_every_ns == 0 && session.limits.packet_time_ns == 0 && !session.stage.payloads_behind;
}

Result<Input> open_capture_source(const SourcePlan& source, const SessionOptions& session, Held held) {
  const std::string& path = source.file;
  auto file = held.file ? *std::move(held.file) : open_capture(path);
  if (!file) return file.error();
  auto sources =
      open_capture_descriptor(file->release(), path == "-" ? std::string(kStandardInput) : path, lanes_of(session));
  if (!sources) return sources.error();
  if (can_take_turns(session) && sources->front()->keeps_packets())
    return Input{.description = escaped(path),
                 .sources = TurnSource::make(std::move(sources->front()), lanes_of(session), limit_of(session)),
                 .dealing = Dealing::in_turns,
                 .owner = nullptr,
                 .device = nullptr,
                 .memory_bytes = Turns::memory_bytes(lanes_of(session), Turns::packets_for(session.batch),
                                                     session.reads_headers())};
  return Input{.description = path == "-" ? "standard input" : escaped(path),
               .sources = *std::move(sources),
               .dealing = Dealing::all_to_each,
               .owner = nullptr,
               .device = nullptr};
}

/// Returns all link types that can be decoded, since nothing was read.
std::vector<LinkType> decoded_link_types(const Held&) {
  std::vector<LinkType> types;
  for (std::uint32_t number = 0; number <= std::numeric_limits<std::uint16_t>::max(); ++number)
    if (const auto type = static_cast<LinkType>(number); is_decoded(type)) types.push_back(type);
  return types;
}

}  // namespace

extern const SourceKind kCapture{
    .option = "-r",
    .value = "FILE",
    .help = capture_help,
    .name = &SourcePlan::file,
    .described_as = "a capture",
    .is_capture = true,
    .matches = [](const SourcePlan& source) { return !source.file.empty(); },
    .hold = [](const Plan& plan, Held& held) { held.file = open_capture(plan.source.file); },
    .open = open_capture_source,
    .link_types = decoded_link_types,
};

}  // namespace parshall
