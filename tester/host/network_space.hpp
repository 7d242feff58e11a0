// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/types.h>

#include <string>
#include <string_view>
#include <utility>

#include "tester/host/child.hpp"

namespace parshall::tester {

/// A network namespace, which is removed with everything in it at destruction. A process's first one also removes those
/// that killed processes left behind.
///
/// Needs:  CAP_SYS_ADMIN and CAP_NET_ADMIN, and ip(8) of iproute2.
class NetworkSpace {
 public:
  static Result<NetworkSpace> make();
  NetworkSpace(NetworkSpace&& other) noexcept : name_(std::exchange(other.name_, {})) {}
  NetworkSpace& operator=(NetworkSpace&&) = delete;
  ~NetworkSpace();

  const std::string& name() const noexcept { return name_; }

  /// Runs a program in it.
  Result<std::string> run(Words words, std::string_view input = {}) const;
  /// Runs commands of ip(8), one per line.
  Result<std::string> ip(std::string_view batch) const;

 private:
  explicit NetworkSpace(std::string name) : name_(std::move(name)) {}

  std::string name_;
};

/// Returns a command that runs the words in a namespace.
Words in_space(const std::string& space, Words words);

/// Settings that keep an interface from sending anything itself, except ARP if it has an address: no IPv6, no multicast
/// reports.
inline constexpr std::string_view kQuietAndUp = "addrgenmode none multicast off up";

/// Returns true if no process has this number, so that its resources were left behind.
bool is_gone(pid_t process) noexcept;

}  // namespace parshall::tester
