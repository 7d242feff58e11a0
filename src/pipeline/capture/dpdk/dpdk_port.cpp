// SPDX-License-Identifier: Apache-2.0
#include "pipeline/capture/dpdk/dpdk_port.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <rte_ether.h>
#include <rte_log.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <optional>
#include <utility>

#include "pipeline/capture/device_name.hpp"
#include "pipeline/capture/dpdk/eal.hpp"
#include "pipeline/capture/dpdk/pci_device.hpp"
#include "pipeline/capture/dpdk/port_setup.hpp"
#include "pipeline/capture/dpdk/xdp_queue.hpp"
#include "pipeline/capture/packet_ring.hpp"

namespace parshall {
namespace dpdk {
namespace {

/// Everything about a device that is known before DPDK opens it.
struct Plan {
  std::vector<PortPlan> ports;  ///< af_xdp: one port per queue
  std::optional<KernelInterface> interface;
  std::string pci_address;
  std::vector<std::string> notes;
};

class Port final : public DpdkPort {
 public:
  Port(std::vector<OpenedPort> ports, std::optional<KernelInterface> interface,
       std::unique_ptr<PromiscuousMembership> promiscuous, std::string description)
      : ports_(std::move(ports)),
        interface_(std::move(interface)),
        promiscuous_(std::move(promiscuous)),
        description_(std::move(description)) {}
  ~Port() override { close(); }

  std::vector<std::unique_ptr<PacketSource>> take_queues() override {
    std::vector<std::unique_ptr<PacketSource>> queues;
    for (OpenedPort& port : ports_) {
      for (auto& queue : port.queues) queues.push_back(std::move(queue));
      port.queues.clear();
    }
    return queues;
  }

  std::vector<std::unique_ptr<FrameSink>> take_sinks() override {
    std::vector<std::unique_ptr<FrameSink>> sinks;
    for (OpenedPort& port : ports_) {
      for (auto& sink : port.sinks) sinks.push_back(std::move(sink));
      port.sinks.clear();
    }
    return sinks;
  }

  bool link_is_up() override { return ports_.front().state->link_is_up(); }

  void join(Port& other) {
    const std::vector<QueueSource*> here = queues(), there = other.queues();
    for (std::size_t i = 0; i < std::min(here.size(), there.size()); ++i) QueueSource::join(*here[i], *there[i]);
  }

  std::uint64_t dropped_in_sending() override {
    std::uint64_t dropped = 0;
    for (const OpenedPort& port : ports_) dropped += port.state->dropped_in_sending();
    return dropped;
  }

  Counters counters() override {
    Counters total;
    for (const OpenedPort& port : ports_) total += port.state->device_counters();
    return total;
  }

  std::string description() const override { return description_; }
  std::uint16_t port_id() const noexcept override { return ports_.front().state->id(); }

  void close() noexcept override {
    for (OpenedPort& port : ports_) port.state->close();
    promiscuous_.reset();
  }

 private:
  std::vector<QueueSource*> queues() const {
    std::vector<QueueSource*> all;
    for (const OpenedPort& port : ports_)
      for (const auto& queue : port.queues) all.push_back(queue.get());
    return all;
  }

  std::vector<OpenedPort> ports_;
  std::optional<KernelInterface> interface_;
  std::unique_ptr<PromiscuousMembership> promiscuous_;
  std::string description_;
};

/// Library below net_af_xdp. The driver loads it, if at all, so this program is not linked with it.
struct PrintingLibrary {
  const char* name;
  const char* setter;
  void* printer = nullptr;  ///< its own print function while it is silenced

  /// Sets the print function. Returns the previous one.
  void* print_with(void* function) const {
    void* const loaded = ::dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    if (!loaded) return nullptr;
    void* const set = ::dlsym(loaded, setter);
    void* const before = set ? reinterpret_cast<void* (*)(void*)>(set)(function) : nullptr;
    ::dlclose(loaded);
    return before;
  }
};

/// Lets DPDK and its libraries print while it lives. Afterwards they are silent, also while a port closes.
class Speaking {
 public:
  explicit Speaking(bool for_ever) : for_ever_(for_ever) {
    ::rte_openlog_stream(stderr);
    for (PrintingLibrary& library : libraries_) {
      if (library.printer) library.print_with(library.printer);
    }
  }
  ~Speaking() {
    if (for_ever_) return;
    static std::FILE* const nowhere = std::fopen("/dev/null", "we");
    ::rte_openlog_stream(nowhere);
    for (PrintingLibrary& library : libraries_) library.printer = library.print_with(nullptr);
  }
  Speaking(const Speaking&) = delete;
  Speaking& operator=(const Speaking&) = delete;

 private:
  static inline std::array<PrintingLibrary, 2> libraries_{
      {{"libxdp.so.1", "libxdp_set_print"}, {"libbpf.so.1", "libbpf_set_print"}}};
  bool for_ever_;
};

/// Returns, as the end of an error, which capabilities this process lacks of those that the device's driver needs.
std::string missing_rights(const std::string& devargs) {
  struct Right {
    std::string_view driver, with;
    int capability;
    std::string_view name;
  };
  static constexpr Right kRights[] = {
      {"net_af_packet", "", CAP_NET_RAW, "CAP_NET_RAW"},  {"net_af_packet", "", CAP_NET_ADMIN, "CAP_NET_ADMIN"},
      {"net_af_xdp", "", CAP_NET_RAW, "CAP_NET_RAW"},     {"net_af_xdp", "", CAP_NET_ADMIN, "CAP_NET_ADMIN"},
      {"net_af_xdp", "", CAP_SYS_ADMIN, "CAP_SYS_ADMIN"}, {"net_tap", "", CAP_NET_ADMIN, "CAP_NET_ADMIN"},
      {"net_pcap", "iface=", CAP_NET_RAW, "CAP_NET_RAW"}};
  std::vector<std::string_view> missing;
  for (const Right& right : kRights)
    if (devargs.starts_with(right.driver) && devargs.find(right.with) != std::string::npos &&
        !has_capability(right.capability))
      missing.push_back(right.name);
  return missing.empty() ? ""
                         : fmt::format("; its driver takes {}, which this process has not", fmt::join(missing, ", "));
}

int next_number() {
  static std::atomic<int> number = 0;
  return number++;
}

std::optional<Error> plan_af_packet(const DpdkOptions& options, PortPlan port, Plan& plan) {
  const KernelInterface& interface = *plan.interface;
  const std::uint32_t longest =
      options.longest_frame > 0 ? options.longest_frame : interface.mtu + PacketRing::kLinkOverhead;
  const PacketRing ring = PacketRing::of(longest, options.descriptors);
  port.devargs = ring.devargs(next_number(), interface.name, options.queues);
  port.data_room = static_cast<std::uint16_t>(ring.frame_bytes + 128);
  port.socket_family = AF_PACKET;
  port.limits.maybe_cut = ring.longest_frame();
  plan.ports.push_back(port);
  if (options.receives) {
    plan.notes.push_back(fmt::format("frames longer than {} bytes are cut and {}", ring.longest_frame(),
                                     options.forwards ? "do not go on" : "count as long as they say"));
    plan.notes.push_back(options.forwards
                             ? "IPv4 fragments are put together by the kernel first, and do not go on where "
                               "that makes them too long (af_xdp leaves them)"
                             : "IPv4 fragments are put together by the kernel first (use af_xdp to see them)");
    if (!port.sends()) plan.notes.push_back("what this host sends is seen too");
  }
  return allow_locked_memory(std::uint64_t{2} * ring.frame_bytes * ring.frames * options.queues);
}

std::optional<Error> plan_af_xdp(const DpdkOptions& options, PortPlan port, Plan& plan) {
  const KernelInterface& interface = *plan.interface;
  const std::uint16_t queues = options.receives ? options.queues : std::max<std::uint16_t>(options.sinks, 1);
  if (options.receives && options.queues != interface.rx_queues) {
    return Error{
        fmt::format("cannot open {} with af_xdp: it has {} receive queues and {} would be read, the others' packets "
                    "not seen; use {} queues, or: ethtool -L {} combined {} (veth: rx {})",
                    interface.name, interface.rx_queues, options.queues, interface.rx_queues, interface.name,
                    options.queues, options.queues)};
  }
  // A buffer lies in one page. This limits what fits behind the headroom of DPDK (128 bytes) and XDP (256 bytes).
  static constexpr std::uint32_t kMostRoom = 3712, kHeadrooms = 128 + 256;
  const std::uint32_t room = interface.mtu + PacketRing::kLinkOverhead + kHeadrooms;
  if (room > kMostRoom) {
    return Error{fmt::format(
        "cannot open {} with af_xdp: its MTU is {}, af_xdp takes up to {}; use af_packet, or: "
        "ip link set dev {} mtu {}",
        interface.name, interface.mtu, kMostRoom - kHeadrooms - PacketRing::kLinkOverhead, interface.name, 1500)};
  }
  port.data_room = static_cast<std::uint16_t>(std::max<std::uint32_t>(port.data_room, room));
  // Uses a port per queue: the driver of 22.11 counts only combined channels, and finds one on a veth device.
  port.queues = 1;
  port.limits.in_one_piece = true;
  port.socket_family = AF_XDP;
  if (options.sinks > queues)
    return Error{fmt::format("cannot open {} with af_xdp: it has {} queues, {} were asked for to send by",
                             interface.name, queues, options.sinks)};
  if (!options.receives) plan.notes.push_back("what comes in on its queues meanwhile is lost to this host");
  for (std::uint16_t queue = 0; queue < queues; ++queue) {
    if (auto error = wait_for_xdp_queue(interface, queue)) return error;
    port.sinks = port.transmit_queues = queue < options.sinks ? 1 : 0;
    port.devargs =
        fmt::format("net_af_xdp{},iface={},start_queue={},queue_count=1", next_number(), interface.name, queue);
    plan.ports.push_back(port);
  }
  return allow_locked_memory(queues * port.memory_bytes());
}

Result<Plan> make_plan(const DpdkOptions& options) {
  if (options.queues == 0 || options.descriptors == 0) return Error{"queues and descriptors must be at least 1"};
  Result<DeviceName> parsed = DeviceName::parse(options.device);
  if (!parsed) return parsed.error();
  const DeviceName& device = *parsed;
  Plan plan;
  PortPlan port{.devargs = device.name,
                .name = options.device,
                .queues = options.queues,
                .transmit_queues = std::max(
                    {options.transmit_queues, options.sinks, options.forwards ? options.queues : std::uint16_t{0}}),
                .descriptors = options.descriptors,
                .mbufs_per_queue = options.mbufs_per_queue,
                .seed = options.seed,
                .is_virtual = device.kind != DeviceKind::pci,
                .promiscuous = options.promiscuous,
                .ends = device.ends(),
                .sinks = options.sinks,
                .sinks_wait = options.sinks_wait,
                .receives = options.receives,
                .forwards = options.forwards};
  switch (device.kind) {
    case DeviceKind::vdev:
      if (!device.args.empty()) port.devargs += "," + device.args;
      plan.ports.push_back(port);
      return plan;
    case DeviceKind::pci: {
      if (const Result<DeviceName> ready = ready_pci_device(device); !ready) return ready.error();
      plan.pci_address = device.name;
      plan.ports.push_back(port);
      return plan;
    }
    case DeviceKind::kernel_interface:
      break;
  }
  Result<KernelInterface> interface = KernelInterface::find(device.name);
  if (!interface) return interface.error();
  plan.interface = *std::move(interface);
  port.promiscuous = false;
  port.limits.longest_sent = plan.interface->mtu + RTE_ETHER_HDR_LEN;
  std::optional<Error> error;
  if (options.via == "af_packet") {
    error = plan_af_packet(options, port, plan);
  } else if (options.via == "af_xdp") {
    error = plan_af_xdp(options, port, plan);
  } else {
    error = Error{fmt::format("cannot open {} via {}: it is af_packet or af_xdp", options.device, options.via)};
  }
  if (error) return *std::move(error);
  return plan;
}

std::string describe(const DpdkOptions& options, const Plan& plan, const std::vector<OpenedPort>& ports,
                     const EalState& eal) {
  std::vector<std::string> notes = plan.notes;
  notes.insert(notes.end(), ports.front().notes.begin(), ports.front().notes.end());
  const std::uint16_t queues = options.receives ? options.queues : options.sinks;
  return fmt::format("{}: DPDK {}, {} queue{}, {}{}{}{}", options.device, ports.front().driver, queues,
                     queues == 1 ? "" : "s", eal.huge_pages ? "huge pages" : "no huge pages",
                     options.receives ? ", time from " + ports.front().time_source : "", notes.empty() ? "" : "; ",
                     fmt::join(notes, "; "));
}

}  // namespace
}  // namespace dpdk

void DpdkPort::join(DpdkPort& a, DpdkPort& b) { static_cast<dpdk::Port&>(a).join(static_cast<dpdk::Port&>(b)); }

Result<std::unique_ptr<DpdkPort>> DpdkPort::open(const DpdkOptions& options) {
  using namespace dpdk;
  auto extra = split_words(options.eal);
  if (!extra) return extra.error();
  Result<Plan> plan = make_plan(options);
  if (!plan) return plan.error();
  EalNeeds needs{.pci_address = plan->pci_address, .extra = *extra};
  for (const PortPlan& port : plan->ports) needs.memory_bytes += port.memory_bytes();
  // Reserves memory for the other port, of a wire or of a test, which is opened later.
  if (options.forwards || options.sinks != 0) needs.memory_bytes *= 2;
  const Result<EalState> eal = start_eal(needs);
  if (!eal) return eal.error();

  bool speaks = false;
  for (const std::string& argument : *extra) speaks |= argument.starts_with("--log-level");
  const CaughtOutput caught(!speaks);
  const Speaking speaking(speaks);
  std::unique_ptr<PromiscuousMembership> promiscuous;
  if (plan->interface && options.promiscuous) {
    promiscuous = std::make_unique<PromiscuousMembership>(plan->interface->index);
    if (!promiscuous->granted()) plan->notes.push_back("promiscuous mode was refused: only this host's packets");
  }
  std::vector<OpenedPort> ports;
  std::optional<Error> error;
  for (const PortPlan& port : plan->ports) {
    Result<OpenedPort> opened = open_port(port);
    if (!opened) {
      error = Error{opened.error().message + caught.tail() + missing_rights(port.devargs)};
      break;
    }
    if (plan->interface) opened->state->watch(*plan->interface);
    if (plan->interface && !options.forwards)  // a wire drops what one end does not take, and goes on
      for (const auto& queue : opened->queues) queue->watch();
    ports.push_back(*std::move(opened));
  }
  if (plan->interface) restore_promiscuous_flag(*plan->interface);
  if (!error) {
    std::string description = describe(options, *plan, ports, *eal);
    return std::unique_ptr<DpdkPort>(
        new Port(std::move(ports), plan->interface, std::move(promiscuous), std::move(description)));
  }
  ports.clear();  // closes the ports opened so far
  return *std::move(error);
}

}  // namespace parshall
