// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <string>

#include "tester/host/network_space.hpp"

namespace parshall::tester {

/// One end of a link: an interface, and its network namespace; empty: the present one.
struct LinkEnd {
  std::string space, interface;

  /// Returns the command that runs there.
  Words there(Words command) const;
};

/// Two namespaces joined by a veth pair that carries only frames sent explicitly.
class VethPair {
 public:
  static Result<VethPair> make();

  const LinkEnd& sending() const noexcept { return sending_; }
  const LinkEnd& receiving() const noexcept { return receiving_; }

 private:
  VethPair(NetworkSpace tx, NetworkSpace rx)
      : spaces_{std::move(tx), std::move(rx)},
        sending_{spaces_[0].name(), "wire0"},
        receiving_{spaces_[1].name(), "tap0"} {}

  std::array<NetworkSpace, 2> spaces_;
  LinkEnd sending_, receiving_;
};

/// The kernel's counters of an interface.
struct KernelCounters {
  std::uint64_t received = 0, receive_dropped = 0;
};
Result<KernelCounters> kernel_counters(const LinkEnd& end);

}  // namespace parshall::tester
