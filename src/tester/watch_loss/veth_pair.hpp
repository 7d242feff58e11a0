// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <string>

#include "tester/host/network_space.hpp"

namespace parshall::tester {

/// One end of a link: an interface, and the network namespace that it is in; empty: ours.
struct LinkEnd {
  std::string space, interface;

  /// The command as it is to be run there.
  Words there(Words command) const;
};

/// Two namespaces joined by a veth pair, over which nothing goes but what is sent by hand.
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

/// What the kernel counted of an interface.
struct KernelCounters {
  std::uint64_t received = 0, receive_dropped = 0;
};
Result<KernelCounters> kernel_counters(const LinkEnd& end);

}  // namespace parshall::tester
