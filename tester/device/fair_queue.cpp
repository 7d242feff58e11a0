// SPDX-License-Identifier: Apache-2.0
#include "tester/device/fair_queue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>

#include "base/parse.hpp"
#include "tester/device/router.hpp"
#include "tester/device/settings.hpp"

namespace parshall::tester {
namespace {

constexpr std::array<std::string_view, 4> kNames{"rate", "flows", "limit", "quantum"};
constexpr std::uint64_t kMostFlows =
    10'000;  ///< takes about ten seconds to set up; the time per flow in tc grows with their number
constexpr std::uint64_t kLeastRate = 1000;
constexpr unsigned kLink = 0xFFFF;
constexpr std::chrono::seconds kPatience{60};

struct FairQueue {
  std::uint64_t rate_bps = 0, flows = 0;
  std::uint64_t limit = 32;      ///< in packets
  std::uint64_t quantum = 1514;  ///< in bytes
};

Result<FairQueue> parse(const std::string& text) {
  const auto settings = parse_settings("fair-queue", text, kNames);
  if (!settings) return settings.error();
  FairQueue queue;
  for (const auto& [name, value] : *settings) {
    const auto number = name == "rate"
                            ? parse_with_unit(value, {{"bit", 1}, {"kbit", 1e3}, {"mbit", 1e6}, {"gbit", 1e9}})
                            : parse_count(value);
    const auto into = [&](std::uint64_t& field, std::uint64_t least, std::uint64_t most) {
      field = number.value_or(0);
      return field >= least && field <= most;
    };
    const bool is_fine = name == "rate"    ? into(queue.rate_bps, kLeastRate, 1'000'000'000'000)
                         : name == "flows" ? into(queue.flows, 1, kMostFlows)
                         : name == "limit" ? into(queue.limit, 1, 1'000'000)
                                           : into(queue.quantum, 1, 1'000'000);
    if (!is_fine)
      return Error{fmt::format(
          "fair-queue: {}={}: give values such as rate=10mbit, flows=1000 (up to {}), limit=32, quantum=1514", name,
          value, kMostFlows)};
  }
  if (queue.rate_bps == 0 || queue.flows == 0)
    return Error{"fair-queue needs rate and flows, such as fair-queue:rate=10mbit,flows=20"};
  return queue;
}

/// Returns HTB classes. Leaves have almost no rate of their own, so they borrow the link's, a quantum each in rotation.
/// A burst of 20 ms makes up for a late timer.
std::string classes(const FairQueue& queue) {
  const std::uint64_t burst = std::max<std::uint64_t>(queue.rate_bps / 8 / 50, 3000);
  std::string batch = "qdisc replace dev out0 root handle 1: htb\n";
  auto to = std::back_inserter(batch);
  fmt::format_to(to, "class add dev out0 parent 1: classid 1:{:x} htb rate {}bit burst {} cburst {} quantum {}\n",
                 kLink, queue.rate_bps, burst, burst, queue.quantum);
  for (std::uint64_t flow = 1; flow <= queue.flows; ++flow)
    fmt::format_to(
        to, "class add dev out0 parent 1:{:x} classid 1:{:x} htb rate 8bit burst 1 ceil {}bit cburst {} quantum {}\n",
        kLink, flow, queue.rate_bps, burst, queue.quantum);
  return batch;
}

/// Returns nft rules that assign classes to 5-tuples in order of appearance, for good. The ports are the transport
/// header's first four bytes. The key is a 32-bit hash, since nft 1.0.6 adds no IPv6 address to a map.
std::string rules(const FairQueue& queue) {
  return fmt::format(R"(table inet fair_queue {{
  map queues {{ type mark : classid; flags dynamic; size {1}; }}
  chain classify {{
    type filter hook forward priority 0
    meta mark set jhash ip saddr . ip daddr . meta l4proto . @th,0,32 mod 0xffffffff seed 1
    meta mark set jhash ip6 saddr . ip6 daddr . meta l4proto . @th,0,32 mod 0xffffffff seed 1
    meta priority set meta mark map @queues accept
    meta priority set 1:1
    add @queues {{ meta mark : numgen inc mod {0} offset 0x10001 }}
    meta priority set meta mark map @queues
  }}
}}
)",
                     queue.flows, 1 << 20);
}

}  // namespace

Result<std::unique_ptr<Scenario>> fair_queue(const std::string& settings, const Stop& stop) {
  const auto queue = parse(settings);
  if (!queue) return queue.error();
  auto router = make_router();
  if (!router) return router.error();
  // HTB gives a class a queue of as many packets as its interface has.
  const NetworkSpace& space = router->space();
  if (const auto done = space.ip(fmt::format("link set out0 txqueuelen {}\n", queue->limit)); !done)
    return done.error();
  if (const auto done = run_command({"tc", "-n", space.name(), "-batch", "-"}, classes(*queue), kPatience, stop); !done)
    return done.error();
  if (const auto done = space.run({"nft", "-f", "-"}, rules(*queue)); !done)
    return Error{"cannot distinguish flows: " + done.error().message + "; it needs nft (package nftables)"};
  return std::unique_ptr<Scenario>(std::make_unique<InNetwork>(*std::move(router)));
}

}  // namespace parshall::tester
