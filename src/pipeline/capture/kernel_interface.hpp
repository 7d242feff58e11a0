// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace parshall {

/// Network interface of this network namespace.
struct KernelInterface {
  std::string name;
  int index = 0;
  std::uint32_t mtu = 0;  ///< bytes behind the link-layer header
  std::uint32_t rx_queues = 1;
  std::uint16_t hardware = 0;  ///< ARPHRD_... of net/if_arp.h
  bool is_up = false;
  bool promiscuous_flag = false;  ///< set by another program, with `ip link set promisc on`

  /// Finds an interface. Fails, saying what to do, if it does not exist or is down, or if this process may not capture.
  static Result<KernelInterface> find(const std::string& name);

  /// Returns all interfaces, also those that are down.
  static std::vector<KernelInterface> all();
};

/// Returns why this process cannot capture from `name`, or from any interface; nullopt if it can.
std::optional<Error> capture_problem(const std::string& name);

/// Returns the names of all interfaces of this network namespace.
std::vector<std::string> interfaces_here();

/// Returns whether this process holds the capability (CAP_... of linux/capability.h).
bool has_capability(int capability) noexcept;

/// Lets this process lock `bytes` more memory. Fails, saying what to do, if the hard limit forbids it.
std::optional<Error> allow_locked_memory(std::uint64_t bytes);

/// Restores the IFF_PROMISC flag that `interface` had; a driver clears it when it starts.
void restore_promiscuous_flag(const KernelInterface& interface) noexcept;

/// Reports whether an interface is up and has a carrier, asking the kernel each time. The kernel may report a new
/// carrier up to a second late. Any thread.
///
/// Cost: one system call.
class LinkState {
 public:
  explicit LinkState(const KernelInterface& interface);
  ~LinkState();
  LinkState(const LinkState&) = delete;
  LinkState& operator=(const LinkState&) = delete;

  /// Returns whether the interface is up; true if the kernel does not say.
  bool is_up() const noexcept;

  /// Returns the line rate in bits per second; nullopt if the kernel does not say.
  std::optional<double> line_bps() const noexcept;

  const std::string& name() const noexcept { return name_; }
  /// Returns a packet socket that is bound to the interface and receives nothing.
  int socket() const noexcept { return socket_; }

 private:
  std::string name_;
  int socket_;
};

/// Stops the packet socket from receiving what this host sends.
///
/// Source: packet(7). PACKET_IGNORE_OUTGOING does not affect sockets in a fanout group, such as net_af_packet's, so
///         this uses a filter.
bool ignore_outgoing(int socket) noexcept;

/// Stops the packet socket from receiving anything.
bool ignore_all(int socket) noexcept;

/// Keeps an interface in promiscuous mode while it lives. The kernel ends the mode even if the process is killed.
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

/// Returns this process's descriptors of sockets of the family (AF_PACKET, AF_XDP), ascending.
std::vector<int> open_sockets(int family);

/// Packet counts of a capturing socket.
struct SocketCounts {
  std::optional<std::uint64_t> received;  ///< packets put into its ring
  std::optional<std::uint64_t> dropped;   ///< packets dropped because the ring was full
};

/// Reads what the kernel put into a socket's ring and what it dropped. The socket is ours or a driver's.
///
/// Source: packet(7) PACKET_STATISTICS, which restarts at 0 on every reading; Linux af_xdp.rst XDP_STATISTICS.
class SocketDrops {
 public:
  SocketDrops(int family, int socket);

  /// Returns the counts since the socket was made; absent if the kernel does not report them. Any thread.
  SocketCounts read() noexcept;

  /// Reads a last time, so that the driver may close its socket.
  void detach() noexcept;

  /// Closes the socket if the driver did not: net_af_xdp of 22.11 with libxdp 1.3 leaves it bound to its queue.
  void close_leftover() noexcept;

 private:
  std::mutex mutex_;
  int family_;
  int socket_;
  bool attached_ = true;
  std::uint64_t cookie_;  ///< the kernel's identifier of the socket, since the descriptor may have been reused
  SocketCounts total_;
};

}  // namespace parshall
