// SPDX-License-Identifier: Apache-2.0
#include "tester/device/network.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>

namespace parshall::tester {

Result<TestNetwork> TestNetwork::make() {
  static std::atomic<unsigned> number = 0;
  auto space = NetworkSpace::make();
  if (!space)
    return Error{"cannot make a network for the device under test: " + space.error().message +
                 "; this needs root and iproute2 (or give your own interfaces)"};
  TestNetwork network(*std::move(space), fmt::format("ps{}-{}", ::getpid(), number++));
  const std::string links = fmt::format(
      "link add {0} type veth peer name in0 netns {2}\n"
      "link add {1} type veth peer name out0 netns {2}\n"
      "link set {0} {3}\n"
      "link set {1} {3}\n",
      network.send_, network.receive_, network.space().name(), kQuietAndUp);
  if (const auto made = run_command({"ip", "-batch", "-"}, links); !made) return made.error();
  const std::string inside = fmt::format("link set lo up\nlink set in0 {0}\nlink set out0 {0}\n", kQuietAndUp);
  if (const auto made = network.space().ip(inside); !made) return made.error();
  return network;
}

}  // namespace parshall::tester
