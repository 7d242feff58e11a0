// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "base/result.hpp"

namespace parshall::tester {

/// One end of a link: an interface, and the network namespace that it is in; empty: ours.
struct LinkEnd {
  std::string space, interface;

  /// The command as it is to be run there.
  std::vector<std::string> there(std::vector<std::string> command) const;
};

/// Two namespaces joined by a veth pair, over which nothing goes but what is sent by hand: no IPv6, no multicast. They
/// are removed with it, whatever happened.
class VethPair {
 public:
  static Result<VethPair> make();

  VethPair(VethPair&& other) noexcept;
  VethPair& operator=(VethPair&&) = delete;
  ~VethPair();

  const LinkEnd& sending() const noexcept { return sending_; }
  const LinkEnd& receiving() const noexcept { return receiving_; }

 private:
  explicit VethPair(const std::string& stem) : sending_{stem + "tx", "wire0"}, receiving_{stem + "rx", "tap0"} {}

  LinkEnd sending_, receiving_;
};

/// What the kernel counted of an interface.
struct KernelCounters {
  std::uint64_t received = 0, receive_dropped = 0;
};
Result<KernelCounters> kernel_counters(const LinkEnd& end);

}  // namespace parshall::tester
