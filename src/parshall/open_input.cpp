// SPDX-License-Identifier: Apache-2.0
#include "parshall/open_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/escaped.hpp"
#include "pipeline/capture/capture_parser.hpp"
#include "pipeline/capture/device_name.hpp"
#include "pipeline/capture/dpdk/dpdk_port.hpp"
#include "pipeline/capture/interface_set.hpp"
#include "pipeline/capture/pcap_file.hpp"
#include "pipeline/capture/turn_source.hpp"
#include "traffic/memory_source.hpp"
#include "traffic/paced_source.hpp"
#include "traffic/shared_source.hpp"

namespace parshall {
namespace {

std::uint64_t limit_of(const SessionOptions& session) {
  return session.limits.packets != 0 ? session.limits.packets : ~std::uint64_t{0};
}

/// Returns true if workers can take turns at reading windows of packets for each other. That needs a flow table, and no
/// worker may have to stop at a packet time.
bool can_take_turns(const SessionOptions& session) {
  return lanes_of(session) > 1 && session.threads.model == ThreadModel::run_to_completion && session.table != nullptr &&
         session.limits.pause_every_ns == 0 && session.limits.packet_time_ns == 0;
}

Result<Input> open_file(const std::string& path, const SessionOptions& session, Held held) {
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

/// Returns true if each worker can generate flows of its own: 5-tuple flows whose packets are all counted. Reports by
/// packet time rule it out, since all workers must pause for them.
bool can_deal_flows(const TrafficSpec& spec, const SessionOptions& session) {
  return lanes_of(session) > 1 && spec.pace_pps == 0 && spec.train_packets == 0 && !session.filter &&
         !session.monitor.biflow && session.key == KeyFields::five_tuple && session.header == IpHeader::outermost &&
         session.limits.pause_every_ns == 0;
}

Result<Input> open_traffic(const std::string& text, const SessionOptions& session) {
  const auto spec = TrafficSpec::parse(text, TrafficSpec::kAll);
  if (!spec) return spec.error();
  const bool deals = can_deal_flows(*spec, session);
  auto trace = Trace::make(*spec, deals ? lanes_of(session) : 0);
  if (!trace) return trace.error();
  const auto shared = std::make_shared<const Trace>(*std::move(trace));
  Input input{.description = "built-in traffic " + escaped(text),
              .sources = {},
              .dealing = spec->pace_pps != 0 ? Dealing::by_device : Dealing::all_to_each,
              .owner = nullptr,
              .device = nullptr};
  if (spec->pace_pps != 0) {
    auto source =
        std::make_unique<PacedSource>(shared, Pace(spec->pace_pps, spec->swing_ms / 1e3),
                                      spec->queue != 0 ? spec->queue : TrafficSpec::kPacedQueue, kTrafficStartNs);
    input.device = [counts = source->counts()] { return counts->counters(); };
    input.remedy = "a longer queue (queue=PACKETS in -g) outlasts longer pauses, a lower pace asks less";
    input.sources.push_back(std::move(source));
  }
  if (deals) {
    for (std::size_t i = 0; i < lanes_of(session); ++i)
      input.sources.push_back(std::make_unique<SharedSource>(shared, i, limit_of(session), kTrafficStartNs));
    input.dealing = Dealing::by_flow;
  }
  for (std::size_t i = input.sources.size(); i < lanes_of(session); ++i)
    input.sources.push_back(std::make_unique<MemorySource>(shared, ~std::uint64_t{0}, kTrafficStartNs));
  return input;
}

/// Joins two devices as one wire. Both are closed before either is destroyed, since each may still hold packets of the
/// other.
struct Wire {
  std::shared_ptr<DpdkPort> here, there;

  Wire(std::shared_ptr<DpdkPort> a, std::shared_ptr<DpdkPort> b) : here(std::move(a)), there(std::move(b)) {
    DpdkPort::join(*here, *there);
  }
  ~Wire() {
    here->close();
    there->close();
  }
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  Counters counters() const { return here->counters() + there->counters(); }
};

Input wire_input(std::shared_ptr<DpdkPort> here, std::shared_ptr<DpdkPort> there) {
  const auto wire = std::make_shared<Wire>(std::move(here), std::move(there));
  Input input{
      .description = escaped(wire->here->description() + "; forward " + wire->there->description()),
      .sources = wire->here->take_queues(),
      .dealing = Dealing::by_device,
      .owner = wire,
      .device = [wire] { return wire->counters(); },
      .dropped_in_sending = [wire] { return wire->here->dropped_in_sending() + wire->there->dropped_in_sending(); }};
  for (auto& queue : wire->there->take_queues()) input.sources.push_back(std::move(queue));
  return input;
}

std::string remedy(std::uint32_t descriptors) {
  return fmt::format(
      "--descriptors above {} outlasts longer pauses, --cores keeps other programs off, --workers shares the work",
      descriptors);
}

/// Makes an input of a packet socket or a DPDK port.
template <class Device>
Input device_input(const std::shared_ptr<Device>& device) {
  return {.description = escaped(device->description()),
          .sources = device->take_queues(),
          .dealing = Dealing::by_device,
          .owner = device,
          .device = [device] { return device->counters(); }};
}

bool is_kernel_interface(const SourcePlan& source) {
  const auto device = DeviceName::parse(source.interface);
  return device && device->kind == DeviceKind::kernel_interface;
}

Result<Input> open_device(const SourcePlan& source, const SessionOptions& session, Held held) {
  const bool forwards = !source.forward.empty();
  const std::size_t queues = queues_of(source, session);
  if (is_packet_socket(source)) {
    auto socket = held.socket ? *std::move(held.socket) : open_socket(source, queues);
    if (!socket) return socket.error();
    if (auto error = (*socket)->listen()) return *std::move(error);
    const std::shared_ptr<PacketSocket> shared = *std::move(socket);
    Input input = device_input(shared);
    input.memory_bytes = shared->memory_bytes();
    input.interface_names = shared->interface_names();
    input.interfaces = [shared] { return shared->interface_packets(); };
    input.remedy = remedy(shared->descriptors());
    return input;
  }
  DpdkOptions opening{.device = source.interface,
                      .via = source.via,
                      .queues = static_cast<std::uint16_t>(queues),
                      .descriptors = source.dpdk_descriptors(),
                      .mbufs_per_queue = source.mbufs,
                      .forwards = forwards,
                      .seed = session.seed,
                      .eal = source.eal};
  auto port = DpdkPort::open(opening);
  if (!port) return port.error();
  std::shared_ptr<DpdkPort> shared = *std::move(port);
  if (forwards) {
    opening.device = source.forward;
    auto other = DpdkPort::open(opening);
    if (!other) return other.error();
    Input input = wire_input(std::move(shared), *std::move(other));
    input.remedy = remedy(source.dpdk_descriptors());
    return input;
  }
  Input input = device_input(shared);
  input.remedy = remedy(source.dpdk_descriptors());
  return input;
}

}  // namespace

Result<std::unique_ptr<PacketSocket>> open_socket(const SourcePlan& source, std::size_t queues) {
  return PacketSocket::open(
      {.interface = source.interface, .queues = static_cast<std::uint16_t>(queues), .descriptors = source.descriptors});
}

bool is_packet_socket(const SourcePlan& source) {
  return source.forward.empty() && source.via == "af_packet" && is_kernel_interface(source);
}

std::optional<Error> several_problem(const SourcePlan& source) {
  if (source.interface.empty() || is_packet_socket(source) || !is_kernel_interface(source)) return std::nullopt;
  if (InterfaceSet::names_of(source.interface).size() == 1) return std::nullopt;
  return Error{fmt::format("-i {}: several interfaces are read by AF_PACKET alone: leave out {}", source.interface,
                           source.forward.empty() ? "--via" : "--forward")};
}

std::size_t lanes_of(const SessionOptions& session) noexcept {
  return session.threads.model == ThreadModel::pipeline ? 1 : session.workers;
}

bool keeps_directions_together(const SourcePlan& source, const SessionOptions& session) {
  return source.interface.empty() || lanes_of(session) == 1 ||
         (is_packet_socket(source) && session.header == IpHeader::outermost && session.key == KeyFields::five_tuple);
}

std::size_t workers_of(const SourcePlan& source, const SessionOptions& session) noexcept {
  return source.forward.empty() ? session.workers : session.workers / 2;
}

std::size_t queues_of(const SourcePlan& source, const SessionOptions& session) noexcept {
  if (source.queues != 0) return source.queues;
  return source.forward.empty() ? lanes_of(session) : workers_of(source, session);
}

bool uses_xdp(const SourcePlan& source) {
  if (source.interface.empty()) return false;
  if (is_kernel_interface(source) && source.via == "af_xdp") return true;
  return source.interface.find("af_xdp") != std::string::npos || source.forward.find("af_xdp") != std::string::npos;
}

bool is_on_pci(const SourcePlan& source) {
  return std::ranges::any_of(std::initializer_list<const std::string*>{&source.interface, &source.forward},
                             [](const std::string* device) {
                               const auto name = DeviceName::parse(*device);
                               return name && name->kind == DeviceKind::pci;
                             });
}

bool may_have_nic_hashes(const SourcePlan& source) { return !source.interface.empty() && !is_packet_socket(source); }

Result<Input> open_input(const SourcePlan& source, const SessionOptions& session, Held held) {
  if (!source.file.empty()) return open_file(source.file, session, std::move(held));
  if (!source.traffic.empty()) return open_traffic(source.traffic, session);
  return open_device(source, session, std::move(held));
}

}  // namespace parshall
