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
  std::uint16_t transmit_queues = 0;  ///< more when somebody also sends on the port
  std::uint16_t sinks = 0;            ///< to send frames by, each with a transmit queue of its own
  bool sinks_wait = true;             ///< for room in a queue; else what finds none is refused at once
  bool receives = true;               ///< else nothing is to be seen of what comes: no queue is read
  std::uint16_t descriptors = 4096;   ///< per queue; trimmed to what the device takes
  std::uint32_t mbufs_per_queue = 0;  ///< 0: derived from the descriptors
  std::uint32_t longest_frame = 0;    ///< bytes, for af_packet; 0: what the interface's MTU needs
  bool promiscuous = true;
  bool forwards = false;   ///< to be joined with another port: what this host sends is not seen, as it must not go on
                           ///< (nor is it by a port that has sinks)
  std::uint64_t seed = 0;  ///< makes the RSS key: keep it secret
  std::string eal = {};    ///< more EAL arguments, split like a shell would; with --log-level EAL may speak
};

/// One opened and started DPDK port. The DPDK environment (EAL) is set up by the first open() and stays.
///
/// Full:   what the device drops is in its counters; with af_packet and af_xdp the kernel is asked directly, because
///         the 22.11 drivers leave (part of) that out.
/// Source: DPDK 22.11 programmer's guide, "Poll Mode Driver" and "Environment Abstraction Layer".
class DpdkPort {
 public:
  /// Not to be called while other threads print: what EAL and its drivers say meanwhile is caught for the Error.
  static Result<std::unique_ptr<DpdkPort>> open(const DpdkOptions& options);

  virtual ~DpdkPort() = default;

  /// What comes in on either port goes out of the other, queue by queue. Both were opened with `forwards` and as many
  /// queues; before take_queues(). They are to be closed before either is destroyed.
  static void join(DpdkPort& a, DpdkPort& b);

  /// One source per receive queue, each for one thread; the second call returns none. They may outlive the port.
  virtual std::vector<std::unique_ptr<PacketSource>> take_queues() = 0;

  /// As many as DpdkOptions::sinks, each for one thread; the second call returns none. They may outlive the port.
  virtual std::vector<std::unique_ptr<FrameSink>> take_sinks() = 0;

  /// Whether the other end is there, asked of the device each time.
  virtual bool link_is_up() = 0;

  /// Totals of the device since it was opened, also after close(). Cold; any thread.
  virtual Counters counters() = 0;

  /// Packets that a forwarder counted as sent, and that the device dropped instead. Cold; any thread; also after
  /// close().
  virtual std::uint64_t dropped_in_sending() = 0;

  /// Driver, queues, memory, where time stamps come from, and every limit that affects the counts. For people.
  virtual std::string description() const = 0;

  /// DPDK's number of the port.
  virtual std::uint16_t port_id() const noexcept = 0;

  /// Stops the device and leaves the interface as it was. The workers must have stopped polling. Idempotent; the
  /// destructor does it too.
  virtual void close() noexcept = 0;
};

}  // namespace parshall
