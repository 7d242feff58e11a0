// SPDX-License-Identifier: Apache-2.0
#include "tester/device/router.hpp"

#include <fmt/format.h>
#include <unistd.h>

namespace parshall::tester {

Result<TestNetwork> make_router() {
  auto network = TestNetwork::make();
  if (!network) return network;
  const NetworkSpace& space = network->space();
  const auto write = [&](const std::string& file, const char* value) {
    return space.run({"tee", "/proc/sys/net/" + file}, value);
  };
  const std::string ipv4 =
      "link set in0 address 02:00:00:00:00:02\n"
      "addr add 198.51.100.1/24 dev in0\n"
      "addr add 203.0.113.1/24 dev out0\n"
      "route add 198.18.0.0/15 via 203.0.113.2 dev out0\n"
      "neigh replace 203.0.113.2 lladdr 02:00:00:00:00:03 nud permanent dev out0\n";
  if (const auto done = space.ip(ipv4); !done) return done.error();
  if (const auto done = write("ipv4/ip_forward", "1"); !done) return done.error();
  for (const char* interface : {"all", "in0", "out0"})
    if (const auto done = write(fmt::format("ipv4/conf/{}/rp_filter", interface), "0"); !done) return done.error();
  if (::access("/proc/sys/net/ipv6", F_OK) != 0) return network;
  const std::string ipv6 =
      "addr add 2001:db8:1::1/64 dev in0 nodad\n"
      "addr add 2001:db8:2::1/64 dev out0 nodad\n"
      "route add 2001:2::/48 via 2001:db8:2::2 dev out0\n"
      "neigh replace 2001:db8:2::2 lladdr 02:00:00:00:00:03 nud permanent dev out0\n";
  if (const auto done = space.ip(ipv6); !done) return done.error();
  if (const auto done = write("ipv6/conf/all/forwarding", "1"); !done) return done.error();
  return network;
}

}  // namespace parshall::tester
