// SPDX-License-Identifier: Apache-2.0
#include "tester/watch_loss/veth_pair.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "tester/watch_loss/child.hpp"

namespace parshall::tester {
namespace {

constexpr std::chrono::seconds kMost{10};

std::optional<Error> run_ip(std::vector<std::string> words) {
  words.insert(words.begin(), "ip");
  const auto output = run_child(words, kMost);
  return output ? std::nullopt : std::optional(output.error());
}

std::vector<std::vector<std::string>> steps(const LinkEnd& tx, const LinkEnd& rx) {
  std::vector<std::vector<std::string>> steps;
  for (const LinkEnd* const end : {&tx, &rx}) {
    steps.push_back({"netns", "add", end->space});
    steps.push_back({"netns", "exec", end->space, "sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1",
                     "net.ipv6.conf.default.disable_ipv6=1"});
  }
  steps.push_back({"-n", tx.space, "link", "add", "name", tx.interface, "type", "veth", "peer", "name", rx.interface,
                   "netns", rx.space});
  for (const LinkEnd* const end : {&tx, &rx})
    steps.push_back({"-n", end->space, "link", "set", "dev", end->interface, "multicast", "off", "up"});
  return steps;
}

}  // namespace

std::vector<std::string> LinkEnd::there(std::vector<std::string> command) const {
  if (!space.empty()) command.insert(command.begin(), {"ip", "netns", "exec", space});
  return command;
}

Result<VethPair> VethPair::make() {
  static int number = 0;
  VethPair pair(fmt::format("parshall{}loss{}", ::getpid(), ++number));
  for (const auto& step : steps(pair.sending_, pair.receiving_))
    if (const auto error = run_ip(step))
      return Error{"no link of namespaces, which is root's to make (or give -i SENDING,WATCHED): " + error->message};
  return pair;
}

VethPair::VethPair(VethPair&& other) noexcept
    : sending_(std::exchange(other.sending_, {})), receiving_(std::exchange(other.receiving_, {})) {}

VethPair::~VethPair() {
  for (const LinkEnd* const end : {&sending_, &receiving_})
    if (!end->space.empty()) run_ip({"netns", "del", end->space});
}

Result<KernelCounters> kernel_counters(const LinkEnd& end) {
  std::vector<std::string> words{"ip"};
  if (!end.space.empty()) words.insert(words.end(), {"-n", end.space});
  words.insert(words.end(), {"-j", "-s", "link", "show", "dev", end.interface});
  const auto output = run_child(words, kMost);
  if (!output) return output.error();
  const auto links = nlohmann::json::parse(*output, nullptr, /*allow_exceptions=*/false);
  const nlohmann::json::json_pointer rx("/0/stats64/rx");
  if (!links.is_array() || !links.contains(rx) || !links.at(rx).contains("packets"))
    return Error{fmt::format("{} does not say what {} received: {}", joined(words), end.interface, *output)};
  const auto& counters = links.at(rx);
  return KernelCounters{.received = counters.at("packets").get<std::uint64_t>(),
                        .receive_dropped = counters.value("dropped", std::uint64_t{0})};
}

}  // namespace parshall::tester
