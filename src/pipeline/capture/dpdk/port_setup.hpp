// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "pipeline/capture/dpdk/port_state.hpp"
#include "pipeline/capture/dpdk/queue_sink.hpp"
#include "pipeline/capture/dpdk/queue_source.hpp"

namespace parshall::dpdk {

/// Parameters to open one DPDK port with.
struct PortPlan {
  std::string devargs;  ///< "net_null0,size=64" or a PCI address
  std::string name;     ///< for messages: what the user called it
  std::uint16_t queues = 1;
  std::uint16_t transmit_queues = 0;
  std::uint16_t descriptors = 4096;
  std::uint32_t mbufs_per_queue = 0;
  std::uint16_t data_room = 2048 + 128;  ///< bytes of an mbuf, with its 128 of headroom
  std::uint64_t seed = 0;
  bool is_virtual = true;
  bool promiscuous = true;  ///< set through the driver, so not for kernel interfaces
  int socket_family = -1;   ///< AF_PACKET or AF_XDP, if the kernel is asked for drops
  bool ends = false;
  std::uint16_t sinks = 0;
  bool sinks_wait = true;
  bool receives = true;
  bool forwards = false;  ///< true if it forwards to another such port, with as many transmit queues
  FrameLimits limits = {};

  bool sends() const { return forwards || sinks != 0; }
  std::uint32_t mbufs() const;       ///< buffers per receive queue
  std::uint32_t sink_mbufs() const;  ///< buffers per sink
  std::uint64_t memory_bytes() const;
};

struct OpenedPort {
  std::shared_ptr<PortState> state;
  std::vector<std::unique_ptr<QueueSource>> queues;
  std::vector<std::unique_ptr<QueueSink>> sinks;
  std::string driver;
  std::string time_source;
  std::vector<std::string> notes;
};

/// Probes, configures and starts the port.
Result<OpenedPort> open_port(const PortPlan& plan);

}  // namespace parshall::dpdk
