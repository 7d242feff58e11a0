// SPDX-License-Identifier: Apache-2.0
#include "pipeline/capture/packet_socket.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "engine/thread_models.hpp"
#include "parshall/sources/lanes.hpp"
#include "parshall/sources/source_kind.hpp"
#include "pipeline/capture/device_name.hpp"
#include "pipeline/capture/interface_set.hpp"

namespace parshall {
namespace {

bool is_packet_socket(const SourcePlan& source) {
  const auto device = DeviceName::parse(source.interface);
  return source.forward.empty() && source.via == "af_packet" && device && device->kind == DeviceKind::kernel_interface;
}

/// The kernel hashes both directions of a flow alike, by addresses and ports of the outermost header
/// (PACKET_FANOUT_HASH).
std::optional<Error> packet_socket_problem(const SourcePlan& source, const SessionOptions& session) {
  return queues_problem(
      source, session,
      /*keeps_directions=*/session.header == IpHeader::outermost && session.key == KeyFields::five_tuple);
}

Result<std::unique_ptr<PacketSocket>> open_packet_socket(const SourcePlan& source, std::size_t queues) {
  return PacketSocket::open(
      {.interface = source.interface, .queues = static_cast<std::uint16_t>(queues), .descriptors = source.descriptors});
}

void hold_packet_socket(const Plan& plan, Held& held) {
  const auto models = thread_models();
  const auto model = std::ranges::find(models, plan.threads.model, &ThreadModelEntry::name);
  const bool one_lane = model != models.end() && model->model == ThreadModel::pipeline;
  const std::size_t lanes = one_lane ? 1 : plan.threads.workers;
  held.socket = open_packet_socket(plan.source, plan.source.queues != 0 ? plan.source.queues : lanes);
}

Result<Input> open_packet_socket_source(const SourcePlan& source, const SessionOptions& session, Held held) {
  auto socket = held.socket ? *std::move(held.socket) : open_packet_socket(source, queues_of(source, session));
  if (!socket) return socket.error();
  if (auto error = (*socket)->listen()) return *std::move(error);
  const std::shared_ptr<PacketSocket> shared = *std::move(socket);
  Input input = device_input(shared);
  input.memory_bytes = shared->memory_bytes();
  input.interface_names = shared->interface_names();
  input.interfaces = [shared] { return shared->interface_packets(); };
  input.remedy = remedy_for(shared->descriptors());
  return input;
}

bool is_open(const Held& held) { return held.socket && held.socket->has_value(); }

}  // namespace

extern const SourceKind kPacketSocket{
    .option = "-i",
    .value = "NAME",
    .help = [] { return std::string("a kernel interface, through AF_PACKET or AF_XDP (--via)"); },
    .name = &SourcePlan::interface,
    .is_link = true,
    .matches = is_packet_socket,
    .can_wait = [](const SourcePlan&) { return false; },
    .problem = packet_socket_problem,
    .hold = hold_packet_socket,
    .open = open_packet_socket_source,
    .link_types =
        [](const Held& held) {
          return is_open(held) ? (**held.socket)->link_types() : std::vector{LinkType::ethernet};
        },
    .interfaces =
        [](const SourcePlan& source, const Held& held) {
          return is_open(held) ? (**held.socket)->interface_names() : InterfaceSet::names_of(source.interface);
        },
};

}  // namespace parshall
