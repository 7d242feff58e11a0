// SPDX-License-Identifier: Apache-2.0
#include "pipeline/capture/dpdk/port_setup.hpp"

#include <fmt/format.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>
#include <rte_mbuf_pool_ops.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "base/random.hpp"

namespace parshall::dpdk {
namespace {

constexpr std::uint32_t kPoolCache = 512;
constexpr std::uint16_t kSentDescriptors = 2048;
constexpr int kXdpTries = 40;
constexpr std::chrono::milliseconds kXdpPatience(50);
constexpr std::uint64_t kHashed = RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_SCTP;

Error failed(const PortPlan& plan, std::string_view what, int error) {
  return Error{fmt::format("cannot open {}: {}: {}", plan.name, what, ::rte_strerror(error < 0 ? -error : error))};
}

/// Makes a pool whose buffers are contiguous, for virtual devices only: no hardware accesses these buffers, so they may
/// cross page boundaries. Otherwise, without huge pages, each buffer would get its own page. That is slower, because
/// they fall into the same cache sets, and takes more memory than net_af_xdp registers with the kernel.
rte_mempool* make_dense_pool(const char* name, const PortPlan& plan, unsigned mbufs, int numa_node) {
  const unsigned mbuf_bytes = sizeof(rte_mbuf) + plan.data_room;
  rte_mempool* pool = ::rte_mempool_create_empty(name, mbufs, mbuf_bytes, kPoolCache, sizeof(rte_pktmbuf_pool_private),
                                                 numa_node, RTE_MEMPOOL_F_NO_IOVA_CONTIG);
  if (!pool) return nullptr;
  rte_pktmbuf_pool_private shape{};
  shape.mbuf_data_room_size = plan.data_room;
  if (::rte_mempool_set_ops_byname(pool, ::rte_mbuf_best_mempool_ops(), nullptr) == 0) {
    ::rte_pktmbuf_pool_init(pool, &shape);
    if (::rte_mempool_populate_default(pool) >= 0) {
      ::rte_mempool_obj_iter(pool, ::rte_pktmbuf_init, nullptr);
      return pool;
    }
  }
  ::rte_mempool_free(pool);
  return nullptr;
}

/// Sets a port up step by step. Its destructor undoes what was done, unless the port was released.
class Setup {
 public:
  explicit Setup(const PortPlan& plan) : plan_(plan) {}
  ~Setup();
  Setup(const Setup&) = delete;
  Setup& operator=(const Setup&) = delete;

  Result<OpenedPort> run();

 private:
  using Step = std::optional<Error>;
  Step probe();
  Step configure();
  Step set_up_queues();
  Step set_up_sinks();
  rte_mempool* make_pool(const char* purpose, std::uint32_t mbufs);
  Step start();
  void pass_over_what_waits();
  int try_configure(std::uint16_t transmit_queues);
  void use_rss();
  void use_longest_frames();
  TimeStamping stamping();
  void ask_kernel(std::uint16_t queue, const std::vector<int>& before);

  const PortPlan& plan_;
  OpenedPort port_;
  std::uint16_t id_ = RTE_MAX_ETHPORTS;
  bool released_ = false;
  rte_eth_dev_info info_{};
  rte_eth_conf conf_{};
  std::vector<std::uint8_t> rss_key_;
  std::uint16_t rx_descriptors_ = 0;
  std::uint16_t tx_descriptors_ = 512;
  std::uint16_t transmit_queues_ = 0;
  std::vector<int> sockets_before_;
};

Setup::~Setup() {
  if (released_ || id_ == RTE_MAX_ETHPORTS) return;
  ::rte_eth_dev_stop(id_);
  ::rte_eth_dev_close(id_);
  if (info_.device) ::rte_dev_remove(info_.device);
}

Result<OpenedPort> Setup::run() {
  for (const auto step :
       {&Setup::probe, &Setup::configure, &Setup::set_up_queues, &Setup::set_up_sinks, &Setup::start}) {
    if (auto error = (this->*step)()) return *std::move(error);
  }
  const TimeStamping stamps = stamping();
  for (std::uint16_t queue = 0; queue < plan_.queues; ++queue) {
    port_.queues.push_back(std::make_unique<QueueSource>(port_.state, queue, stamps, plan_.ends));
  }
  ::rte_eth_stats_reset(id_);
  port_.state->set_running();
  released_ = true;
  return std::move(port_);
}

Setup::Step Setup::probe() {
  if (plan_.socket_family >= 0) sockets_before_ = open_sockets(plan_.socket_family);
  const std::string& devargs = plan_.devargs;
  DeviceRings rings;
  const bool is_there = ::rte_eth_dev_get_port_by_name(devargs.c_str(), &id_) == 0;  // created by an EAL option
  if (!is_there && DeviceRings::are_wanted_by(devargs) && !rings.make(devargs, plan_.descriptors, SOCKET_ID_ANY))
    return failed(plan_, fmt::format("rings of {} packets", plan_.descriptors), rte_errno);
  const int error = ::rte_dev_probe(devargs.c_str());
  if (error != 0 && error != -EEXIST) return failed(plan_, "DPDK finds no such device or its driver refuses it", error);
  const std::string device = plan_.devargs.substr(0, plan_.devargs.find(','));
  if (::rte_eth_dev_get_port_by_name(device.c_str(), &id_) != 0) {
    id_ = RTE_MAX_ETHPORTS;
    return Error{fmt::format("cannot open {}: no network driver of DPDK took it", plan_.name)};
  }
  if (const int unknown = ::rte_eth_dev_info_get(id_, &info_)) return failed(plan_, "asking what it can do", unknown);
  port_.driver = info_.driver_name;
  port_.state = std::make_shared<PortState>(id_, plan_.queues, facts_of(port_.driver, plan_.is_virtual));
  port_.state->own(std::move(rings));
  if (*info_.dev_flags & RTE_ETH_DEV_AUTOFILL_QUEUE_XSTATS) port_.state->set_counts_queues();
  if (plan_.queues > info_.max_rx_queues) {
    return Error{fmt::format("cannot open {}: it has {} receive queues, {} were asked for", plan_.name,
                             info_.max_rx_queues, plan_.queues)};
  }
  port_.state->set_limits(plan_.limits);
  if (plan_.socket_family == AF_PACKET) ask_kernel(0, sockets_before_);
  return std::nullopt;
}

void Setup::use_rss() {
  conf_.rx_adv_conf.rss_conf.rss_hf = kHashed & info_.flow_type_rss_offloads;
  if (conf_.rx_adv_conf.rss_conf.rss_hf == 0) return;
  conf_.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
  conf_.rxmode.offloads |= info_.rx_offload_capa & RTE_ETH_RX_OFFLOAD_RSS_HASH;
  if (info_.hash_key_size == 0) return;
  SplitMix64 random(plan_.seed);
  rss_key_.resize(info_.hash_key_size);
  std::ranges::generate(rss_key_, [&] { return static_cast<std::uint8_t>(random() >> 56); });
  conf_.rx_adv_conf.rss_conf.rss_key = rss_key_.data();
  conf_.rx_adv_conf.rss_conf.rss_key_len = info_.hash_key_size;
}

/// Accepts the device's longest frames, in a chain of buffers if it can. The MTU of a kernel interface is left alone.
void Setup::use_longest_frames() {
  if (plan_.is_virtual) return;
  const std::uint32_t overhead =
      info_.max_mtu != UINT16_MAX && info_.max_rx_pktlen > info_.max_mtu ? info_.max_rx_pktlen - info_.max_mtu : 18;
  const std::uint32_t room = plan_.data_room - RTE_PKTMBUF_HEADROOM;
  const std::uint64_t scatter = info_.rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER;
  const std::uint32_t frame = scatter ? info_.max_rx_pktlen : std::min(info_.max_rx_pktlen, room);
  conf_.rxmode.mtu = std::min<std::uint32_t>(info_.max_mtu, frame - overhead);
  conf_.rxmode.offloads |= scatter;
  port_.notes.push_back(fmt::format("frames of up to {} bytes", conf_.rxmode.mtu + overhead));
}

int Setup::try_configure(std::uint16_t transmit_queues) {
  transmit_queues_ = transmit_queues;
  return ::rte_eth_dev_configure(id_, plan_.queues, transmit_queues, &conf_);
}

Setup::Step Setup::configure() {
  use_rss();
  use_longest_frames();
  conf_.rxmode.offloads |= info_.rx_offload_capa & RTE_ETH_RX_OFFLOAD_TIMESTAMP;
  if (plan_.forwards) conf_.txmode.offloads |= info_.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
  // Many virtual devices want queues in pairs. net_memif does not report that; it just never connects.
  const std::uint16_t pairs = std::min(std::max(plan_.queues, plan_.transmit_queues), info_.max_tx_queues);
  int error = try_configure(plan_.is_virtual ? pairs : plan_.transmit_queues);
  if (error != 0 && transmit_queues_ != pairs) error = try_configure(pairs);
  if (error != 0) return failed(plan_, "configuring it", error);

  const std::uint16_t wanted = std::max(plan_.sinks, plan_.forwards ? plan_.queues : std::uint16_t{0});
  if (transmit_queues_ < wanted)
    return Error{fmt::format("cannot open {}: it has {} transmit queues, {} were asked for", plan_.name,
                             transmit_queues_, wanted)};

  rx_descriptors_ = plan_.descriptors;
  if (plan_.sends()) tx_descriptors_ = kSentDescriptors;
  error = ::rte_eth_dev_adjust_nb_rx_tx_desc(id_, &rx_descriptors_, &tx_descriptors_);
  if (error != 0) return failed(plan_, fmt::format("{} descriptors", plan_.descriptors), error);
  if (rx_descriptors_ != plan_.descriptors) {
    port_.notes.push_back(fmt::format("{} descriptors instead of {}", rx_descriptors_, plan_.descriptors));
  }
  return std::nullopt;
}

/// Makes a pool for the port. Returns null, with the reason in rte_errno, if there is not enough memory.
rte_mempool* Setup::make_pool(const char* purpose, std::uint32_t mbufs) {
  static std::atomic<unsigned> pools = 0;
  const int numa_node = ::rte_eth_dev_socket_id(id_);
  const std::string name = fmt::format("parshall-{}-{}", purpose, pools++);
  rte_mempool* const pool =
      plan_.is_virtual ? make_dense_pool(name.c_str(), plan_, mbufs, numa_node)
                       : ::rte_pktmbuf_pool_create(name.c_str(), mbufs, kPoolCache, 0, plan_.data_room, numa_node);
  if (pool) port_.state->own(pool);
  return pool;
}

/// Sets up the sinks, each with its own transmit queue. Drivers return buffers of sent frames when they need the room.
Setup::Step Setup::set_up_sinks() {
  const bool is_server = plan_.devargs.find("role=server") != plan_.devargs.npos;
  for (std::uint16_t queue = 0; queue < plan_.sinks; ++queue) {
    rte_mempool* const pool = make_pool("tx", plan_.sink_mbufs());
    if (!pool) return failed(plan_, fmt::format("{} MiB for frames to send", plan_.memory_bytes() >> 20), rte_errno);
    const std::uint32_t room = plan_.data_room - RTE_PKTMBUF_HEADROOM;
    port_.sinks.push_back(std::make_unique<QueueSink>(
        port_.state, queue, pool, std::min(room, plan_.limits.longest_sent), plan_.sinks_wait, is_server));
  }
  return std::nullopt;
}

Setup::Step Setup::set_up_queues() {
  const int numa_node = ::rte_eth_dev_socket_id(id_);
  for (std::uint16_t queue = 0; queue < plan_.queues; ++queue) {
    rte_mempool* const pool = make_pool("rx", plan_.mbufs());
    if (!pool)
      return failed(plan_, fmt::format("{} MiB for the packets of a queue", plan_.memory_bytes() >> 20), rte_errno);

    const bool is_xdp = plan_.socket_family == AF_XDP;
    const std::vector<int> before = is_xdp ? open_sockets(AF_XDP) : std::vector<int>{};
    rte_eth_rxconf rx = info_.default_rxconf;
    rx.offloads = conf_.rxmode.offloads;
    rx.rx_drop_en = plan_.queues > 1;  // a full queue must not hold up the others
    const auto node = static_cast<unsigned>(numa_node);
    if (const int error = ::rte_eth_rx_queue_setup(id_, queue, rx_descriptors_, node, &rx, pool))
      return failed(plan_, fmt::format("receive queue {}", queue), error);
    if (is_xdp) ask_kernel(queue, before);
  }
  for (std::uint16_t queue = 0; queue < transmit_queues_; ++queue) {
    if (const int error =
            ::rte_eth_tx_queue_setup(id_, queue, tx_descriptors_, static_cast<unsigned>(numa_node), nullptr)) {
      return failed(plan_, fmt::format("transmit queue {}", queue), error);
    }
  }
  return std::nullopt;
}

/// Assigns the sockets that the driver opened since `before` to the queues from `queue` on, in order.
void Setup::ask_kernel(std::uint16_t queue, const std::vector<int>& before) {
  for (const int socket : open_sockets(plan_.socket_family)) {
    if (std::ranges::binary_search(before, socket) || queue >= plan_.queues) continue;
    if (plan_.socket_family == AF_PACKET && !plan_.receives) ignore_all(socket);
    if (plan_.socket_family == AF_PACKET && plan_.receives && plan_.sends() && !ignore_outgoing(socket))
      port_.notes.push_back("what this host sends is taken for received: the kernel refused a filter");
    port_.state->ask_kernel(queue++, plan_.socket_family, socket);
  }
}

Setup::Step Setup::start() {
  if (const int error = ::rte_eth_dev_start(id_)) return failed(plan_, "starting it", error);
  if (plan_.promiscuous) {
    const int error = ::rte_eth_promiscuous_enable(id_);
    if (error != 0 && error != -ENOTSUP) return failed(plan_, "promiscuous mode", error);
  }
  if (plan_.receives && port_.state->facts().hears_others) pass_over_what_waits();
  return std::nullopt;
}

/// Discards frames received before the start. They may be from other interfaces, and the port has not been reported as
/// started.
void Setup::pass_over_what_waits() {
  constexpr std::uint32_t kMost = 1 << 16;  // limit per queue, since frames may keep arriving
  std::array<rte_mbuf*, 64> frames;
  for (std::uint16_t queue = 0; queue < plan_.queues; ++queue)
    for (std::uint32_t passed = 0; passed < kMost;) {
      const std::uint16_t got = ::rte_eth_rx_burst(id_, queue, frames.data(), frames.size());
      if (got == 0) break;
      ::rte_pktmbuf_free_bulk(frames.data(), got);
      passed += got;
    }
  ::rte_eth_stats_reset(id_);
}

/// Uses the device's time stamps if it provides them and their unit is known, else the clock.
TimeStamping Setup::stamping() {
  port_.time_source = "CLOCK_REALTIME, once per burst";
  TimeStamping stamps;
  const TimestampUnit unit = port_.state->facts().timestamp;
  const bool enabled = conf_.rxmode.offloads & RTE_ETH_RX_OFFLOAD_TIMESTAMP;
  if (!enabled && unit != TimestampUnit::microseconds_since_1970) return stamps;  // those of files are always there
  const int offset = ::rte_mbuf_dynfield_lookup(RTE_MBUF_DYNFIELD_TIMESTAMP_NAME, nullptr);
  const int flag = ::rte_mbuf_dynflag_lookup(RTE_MBUF_DYNFLAG_RX_TIMESTAMP_NAME, nullptr);
  if (offset < 0 || flag < 0) return stamps;
  stamps.field_offset = offset;
  stamps.valid_flag = std::uint64_t{1} << flag;
  if (unit == TimestampUnit::microseconds_since_1970) {
    stamps.source = TimeSource::microseconds_since_1970;
    port_.time_source = "packet time stamps, in microseconds";
    return stamps;
  }
  if (unit == TimestampUnit::nanoseconds_since_1970) {
    stamps.source = TimeSource::nanoseconds_since_1970;
    port_.time_source = "the kernel's time stamps, in nanoseconds";
    return stamps;
  }
  for (int reading = 0; reading < 2; ++reading) {
    ClockPair pair;
    if (::rte_eth_read_clock(id_, &pair.ticks) != 0) {
      port_.notes.push_back("the device stamps packets, but does not tell what the stamps count: not used");
      return stamps;
    }
    pair.time_ns = realtime_ns();
    stamps.ticks = reading == 0 ? TickClock(pair) : stamps.ticks;
    if (reading == 1)
      stamps.ticks.feed(pair);
    else
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  if (!stamps.ticks.calibrated()) return stamps;
  stamps.source = TimeSource::device_ticks;
  port_.time_source = fmt::format("device clock of {:.0f} ticks per second", stamps.ticks.ticks_per_second());
  return stamps;
}

}  // namespace

std::uint32_t PortPlan::mbufs() const {
  if (mbufs_per_queue > 0) return mbufs_per_queue;
  // Counts sent packets still in a queue: the other port's packets in a NIC's queue, copies of them in net_af_xdp's.
  const std::uint32_t sent = sends() ? kSentDescriptors : 0;
  // Reserves for all descriptors filled twice (a driver may have a fill ring besides), two polls in use, and what the
  // caches of two threads may keep.
  return 2 * std::max<std::uint32_t>(descriptors, 2048) + 2 * static_cast<std::uint32_t>(QueueSource::kMaxBurst) +
         2 * kPoolCache * 3 / 2 + sent;
}

/// Returns the buffers for a full queue, one burst on its way there, and the caches of two threads.
std::uint32_t PortPlan::sink_mbufs() const {
  const std::uint32_t held = std::max<std::uint32_t>(kSentDescriptors, is_virtual ? descriptors : 0);  // in a ring
  return 2 * held + 2 * static_cast<std::uint32_t>(QueueSink::kMostFrames) + 2 * kPoolCache * 3 / 2;
}

std::uint64_t PortPlan::memory_bytes() const {
  static constexpr std::uint64_t kPerMbuf = 448;  // header, mbuf, padding, ring entry
  const auto of_pool = [&](std::uint64_t mbufs) { return mbufs * (data_room + kPerMbuf) + (4 << 20); };
  return queues * of_pool(mbufs()) + sinks * of_pool(sink_mbufs());
}

Result<OpenedPort> open_port(const PortPlan& plan) {
  Result<OpenedPort> opened = Setup(plan).run();
  // The kernel releases the queue of a closed socket a little later, including that of wait_for_xdp_queue(). Each try
  // uses a new port: after a failed queue set-up, net_af_xdp would go on with buffers that it has freed.
  for (int tries = 0; !opened && plan.socket_family == AF_XDP && tries < kXdpTries; ++tries) {
    std::this_thread::sleep_for(kXdpPatience);
    opened = Setup(plan).run();
  }
  return opened;
}

}  // namespace parshall::dpdk
