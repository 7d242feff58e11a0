// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace parshall {

/// A network interface of this network namespace.
struct KernelInterface {
  std::string name;
  int index = 0;
  std::uint32_t mtu = 0;  ///< bytes behind the link-layer header
  std::uint32_t rx_queues = 1;
  std::uint16_t hardware = 0;  ///< ARPHRD_... of net/if_arp.h
  bool is_up = false;
  bool promiscuous_flag = false;  ///< set by somebody else, with `ip link set promisc on`

  /// Fails, saying what to do, when there is none of that name, it is down, or we have no right to capture.
  static Result<KernelInterface> find(const std::string& name);

  /// Returns all that there are, also those that are down.
  static std::vector<KernelInterface> all();
};

/// Says why this process cannot capture from `name`, or from any interface; nothing where it can.
std::optional<Error> capture_problem(const std::string& name);

/// Returns the names of all interfaces of this network namespace.
std::vector<std::string> interfaces_here();

/// True when this process holds the capability (CAP_... of linux/capability.h).
bool has_capability(int capability) noexcept;

/// Lets this process lock `bytes` more memory; fails, saying what to do, when the hard limit forbids it.
std::optional<Error> allow_locked_memory(std::uint64_t bytes);

/// Puts the IFF_PROMISC flag back that `interface` had: a driver clears it when it starts.
void restore_promiscuous_flag(const KernelInterface& interface) noexcept;

/// Whether an interface is up and has a carrier, asked of the kernel each time, which may tell of a carrier that came
/// up to a second late. Any thread.
///
/// Cost: one system call.
class LinkState {
 public:
  explicit LinkState(const KernelInterface& interface);
  ~LinkState();
  LinkState(const LinkState&) = delete;
  LinkState& operator=(const LinkState&) = delete;

  /// True when the kernel does not say.
  bool is_up() const noexcept;

  /// Bits per second of its line; nothing when the kernel does not say.
  std::optional<double> line_bps() const noexcept;

  const std::string& name() const noexcept { return name_; }
  /// A packet socket that is bound to it, and hears nothing.
  int socket() const noexcept { return socket_; }

 private:
  std::string name_;
  int socket_;
};

/// From here on the packet socket does not see what this host sends.
///
/// Source: packet(7) PACKET_IGNORE_OUTGOING does not reach sockets in a fanout group, as net_af_packet's are; filters
/// do.
bool ignore_outgoing(int socket) noexcept;

/// From here on the packet socket sees nothing.
bool ignore_all(int socket) noexcept;

/// Promiscuous mode as long as this lives; the kernel ends it even if the process is killed.
class PromiscuousMembership {
 public:
  explicit PromiscuousMembership(int interface_index) noexcept;
  ~PromiscuousMembership();
  PromiscuousMembership(const PromiscuousMembership&) = delete;
  PromiscuousMembership& operator=(const PromiscuousMembership&) = delete;
  bool granted() const noexcept { return granted_; }

 private:
  int socket_;
  bool granted_ = false;
};

/// File descriptors of this process that are sockets of the family (AF_PACKET, AF_XDP), ascending.
std::vector<int> open_sockets(int family);

/// What came to a socket that captures.
struct SocketCounts {
  std::optional<std::uint64_t> received;  ///< packets put into its ring
  std::optional<std::uint64_t> dropped;   ///< for want of room there
};

/// What the kernel put into the ring of a socket, of ours or of a driver, and what it dropped, asked of that socket.
///
/// Source: packet(7) PACKET_STATISTICS, which starts again at 0 on every reading; Linux af_xdp.rst XDP_STATISTICS.
class SocketDrops {
 public:
  SocketDrops(int family, int socket);

  /// Since the socket was made; nothing where the kernel does not tell. Any thread.
  SocketCounts read() noexcept;

  /// Reads once more; the driver may now close its socket.
  void detach() noexcept;

  /// Closes the socket if the driver did not: net_af_xdp of 22.11 with libxdp 1.3 leaves it bound to its queue.
  void close_leftover() noexcept;

 private:
  std::mutex mutex_;
  int family_;
  int socket_;
  bool attached_ = true;
  std::uint64_t cookie_;  ///< the kernel's name of the socket: its number may be another's by now
  SocketCounts total_;
};

}  // namespace parshall
