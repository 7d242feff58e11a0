// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "pipeline/capture/frame_sink.hpp"
#include "pipeline/capture/source.hpp"

namespace parshall {

struct DpdkOptions {
  /// A kernel interface ("eth0"), a PCI address ("0000:03:00.0") or any DPDK device ("vdev:net_pcap0,rx_pcap=x.pcap").
  std::string device = {};
  std::string via = "af_packet";      ///< how to read a kernel interface: af_packet or af_xdp
  std::uint16_t queues = 1;           ///< receive queues, one per worker
  std::uint16_t transmit_queues = 0;  ///< more if frames are also sent on the port
  std::uint16_t sinks = 0;            ///< sinks that send frames, each with its own transmit queue
  bool sinks_wait = true;             ///< true: they wait for room in a queue; false: they refuse frames at once
  bool receives = true;               ///< if false, no queue is read and incoming packets are not seen
  std::uint16_t descriptors = 4096;   ///< per queue; trimmed to what the device takes
  std::uint32_t mbufs_per_queue = 0;  ///< 0: derived from the descriptors
  std::uint32_t longest_frame = 0;    ///< bytes, for af_packet; 0: what the interface's MTU needs
  bool promiscuous = true;
  bool forwards = false;   ///< true if the port is joined with another one; packets of this host are then not seen, as
                           ///< they must not be forwarded (nor are they on a port with sinks)
  std::uint64_t seed = 0;  ///< seed of the RSS key: keep it secret
  std::string eal = {};    ///< more EAL arguments, split as in a shell; --log-level makes EAL print
};

/// An opened and started DPDK port. The first open() sets up the DPDK environment (EAL), which stays.
///
/// Full:   the device counts what it drops. With af_packet and af_xdp the kernel is asked directly, because the 22.11
///         drivers leave out (part of) these drops.
/// Source: DPDK 22.11 programmer's guide, "Poll Mode Driver" and "Environment Abstraction Layer".
class DpdkPort {
 public:
  /// Opens and starts a port. Other threads must not print during the call, because it captures the output of EAL and
  /// its drivers for the Error.
  static Result<std::unique_ptr<DpdkPort>> open(const DpdkOptions& options);

  virtual ~DpdkPort() = default;

  /// Connects two ports: each forwards what it receives to the other, queue by queue. Both were opened with `forwards`
  /// and the same number of queues. Call it before take_queues(), and close both ports before destroying either.
  static void join(DpdkPort& a, DpdkPort& b);

  /// Returns one source per receive queue, each for one thread. A second call returns none. They may outlive the port.
  virtual std::vector<std::unique_ptr<PacketSource>> take_queues() = 0;

  /// Returns DpdkOptions::sinks sinks, each for one thread. A second call returns none. They may outlive the port.
  virtual std::vector<std::unique_ptr<FrameSink>> take_sinks() = 0;

  /// Returns whether the link is up, asking the device each time.
  virtual bool link_is_up() = 0;

  /// Returns the device's totals since it was opened, also after close(). Slow; any thread.
  virtual Counters counters() = 0;

  /// Returns the packets that a forwarder counted as sent but the device dropped. Slow; any thread; also after close().
  virtual std::uint64_t dropped_in_sending() = 0;

  /// Returns a text for people: driver, queues, memory, source of time stamps, and every limit that affects the counts.
  virtual std::string description() const = 0;

  /// Returns DPDK's number of the port.
  virtual std::uint16_t port_id() const noexcept = 0;

  /// Stops the device and leaves the interface as it was. The workers must have stopped polling. Idempotent; the
  /// destructor does it too.
  virtual void close() noexcept = 0;
};

}  // namespace parshall
