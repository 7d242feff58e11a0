// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "base/escaped.hpp"
#include "parshall/sources/lanes.hpp"
#include "parshall/sources/source_kind.hpp"
#include "pipeline/capture/device_name.hpp"
#include "pipeline/capture/dpdk/dpdk_port.hpp"
#include "pipeline/capture/interface_set.hpp"

namespace parshall {
namespace {

bool is_of_kind(const std::string& device, DeviceKind kind) {
  const auto name = DeviceName::parse(device);
  return name && name->kind == kind;
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

Result<Input> open_dpdk_source(const SourcePlan& source, const SessionOptions& session, Held) {
  const bool forwards = !source.forward.empty();
  DpdkOptions opening{.device = source.interface,
                      .via = source.via,
                      .queues = static_cast<std::uint16_t>(queues_of(source, session)),
                      .descriptors = source.dpdk_descriptors(),
                      .mbufs_per_queue = source.mbufs,
                      .forwards = forwards,
                      .seed = session.seed,
                      .eal = source.eal};
  auto port = DpdkPort::open(opening);
  if (!port) return port.error();
  std::shared_ptr<DpdkPort> shared = *std::move(port);
  Input input;
  if (forwards) {
    opening.device = source.forward;
    auto other = DpdkPort::open(opening);
    if (!other) return other.error();
    input = wire_input(std::move(shared), *std::move(other));
  } else {
    input = device_input(shared);
  }
  input.remedy = remedy_for(source.dpdk_descriptors());
  return input;
}

std::optional<Error> dpdk_problem(const SourcePlan& source, const SessionOptions& session) {
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint16_t>::max();
  if (source.descriptors > kMost)
    return Error{fmt::format("--descriptors {}: a DPDK device holds {} at most", source.descriptors, kMost)};
  return queues_problem(source, session, /*keeps_directions=*/false);
}

std::optional<Error> kernel_by_dpdk_problem(const SourcePlan& source, const SessionOptions& session) {
  if (InterfaceSet::names_of(source.interface).size() != 1)
    return Error{fmt::format("-i {}: several interfaces are read by AF_PACKET alone: leave out {}", source.interface,
                             source.forward.empty() ? "--via" : "--forward")};
  return dpdk_problem(source, session);
}

/// Adds the files in DPDK's arguments, given as NAME=PATH.
void add_device_files(const std::string& words, SourceNeeds& needs) {
  for (std::size_t at = words.find('='); at != words.npos; at = words.find('=', at + 1)) {
    const std::size_t begin = words.find_last_of(", ", at), end = words.find_first_of(", ", at);
    const std::string name = words.substr(begin + 1, at - begin - 1);
    std::string value = words.substr(at + 1, end == words.npos ? end : end - at - 1);
    if (name == "socket") {
      needs.binds.push_back(std::move(value));
    } else if (name.starts_with("rx_")) {
      needs.reads.push_back(std::move(value));
    } else if (name.starts_with("tx_") || value.starts_with('/')) {
      needs.writes.push_back(std::move(value));
    }
  }
}

SourceNeeds dpdk_needs(const SourcePlan& source) {
  const std::string devices = source.interface + ' ' + source.forward;
  const std::string words = fmt::format("{} {} {}", devices, source.via, source.eal);
  SourceNeeds needs{
      .has_driver = true,
      .is_on_pci = is_of_kind(source.interface, DeviceKind::pci) || is_of_kind(source.forward, DeviceKind::pci),
      .uses_xdp = devices.find("af_xdp") != devices.npos ||
                  (source.via == "af_xdp" && is_of_kind(source.interface, DeviceKind::kernel_interface)),
      .abstract_sockets = words.find("memif") != words.npos};
  add_device_files(words, needs);
  return needs;
}

/// Completes the entry of a kind that DPDK reads.
constexpr SourceKind by_dpdk(SourceKind kind) {
  kind.option = "-i";
  kind.name = &SourcePlan::interface;
  kind.is_link = kind.has_nic_hashes = true;
  kind.is_held_wholly = false;
  kind.can_wait = [](const SourcePlan&) { return false; };
  if (kind.problem == nullptr) kind.problem = dpdk_problem;
  kind.open = open_dpdk_source;
  kind.needs = dpdk_needs;
  return kind;
}

}  // namespace

/// AF_XDP, and any kernel interface that forwards.
extern constinit const SourceKind kKernelByDpdk = by_dpdk({
    .matches =
        [](const SourcePlan& source) {
          return is_of_kind(source.interface, DeviceKind::kernel_interface) &&
                 (source.via != "af_packet" || !source.forward.empty());
        },
    .problem = kernel_by_dpdk_problem,
});

extern constinit const SourceKind kPciDevice = by_dpdk({
    .value = "ADDRESS",
    .help = [] { return std::string("a PCI device bound to a DPDK driver, e.g. 0000:03:00.0"); },
    .matches = [](const SourcePlan& source) { return is_of_kind(source.interface, DeviceKind::pci); },
});

extern constinit const SourceKind kVirtualDevice = by_dpdk({
    .value = "vdev:...",
    .help = [] { return std::string("any DPDK virtual device, e.g. vdev:net_pcap0,rx_pcap=FILE"); },
    .matches = [](const SourcePlan& source) { return source.interface.starts_with("vdev:"); },
});

}  // namespace parshall
