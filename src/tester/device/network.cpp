// SPDX-License-Identifier: Apache-2.0
#include "tester/device/network.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <utility>

namespace parshall::tester {
namespace {

/// Two veth pairs; nothing but what is tested sends on them: no IPv6 neighbours, no multicast reports.
constexpr std::string_view kLinks =
    "link add {0} type veth peer name in0 netns {2}\n"
    "link add {1} type veth peer name out0 netns {2}\n"
    "link set {0} addrgenmode none multicast off up\n"
    "link set {1} addrgenmode none multicast off up\n";
constexpr std::string_view kLinksInside =
    "link set lo up\n"
    "link set in0 addrgenmode none multicast off up\n"
    "link set out0 addrgenmode none multicast off up\n";

}  // namespace

TestNetwork::TestNetwork(const std::string& stem)
    : name_("parshall-" + stem), send_("ps" + stem + "a"), receive_("ps" + stem + "b") {}

TestNetwork::TestNetwork(TestNetwork&& other) noexcept
    : name_(std::exchange(other.name_, {})), send_(std::move(other.send_)), receive_(std::move(other.receive_)) {}

TestNetwork::~TestNetwork() {
  if (!name_.empty()) static_cast<void>(run_command({"ip", "netns", "del", name_}));
}

Result<TestNetwork> TestNetwork::make() {
  static std::atomic<unsigned> number = 0;
  TestNetwork network(fmt::format("{}{}", ::getpid(), number++));
  if (auto made = run_command({"ip", "netns", "add", network.name_}); !made) {
    network.name_.clear();
    return Error{"no network for the device under test: " + made.error().message +
                 "; it needs root and iproute2, or give your own interfaces"};
  }
  auto links = run_command({"ip", "-batch", "-"}, fmt::format(kLinks, network.send_, network.receive_, network.name_));
  if (links) links = run_command({"ip", "-n", network.name_, "-batch", "-"}, std::string(kLinksInside));
  if (!links) return links.error();
  return network;
}

Words TestNetwork::inside(Words words) const {
  Words all{"ip", "netns", "exec", name_};
  all.insert(all.end(), std::make_move_iterator(words.begin()), std::make_move_iterator(words.end()));
  return all;
}

}  // namespace parshall::tester
