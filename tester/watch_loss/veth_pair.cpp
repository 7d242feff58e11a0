// SPDX-License-Identifier: Apache-2.0
#include "tester/watch_loss/veth_pair.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

namespace parshall::tester {

Words LinkEnd::there(Words command) const { return space.empty() ? command : in_space(space, std::move(command)); }

Result<VethPair> VethPair::make() {
  const auto failed = [](const Error& error) {
    return Error{"cannot make a link of namespaces, which needs root (or give -i SENDING,WATCHED): " + error.message};
  };
  auto tx = NetworkSpace::make(), rx = NetworkSpace::make();
  if (!tx || !rx) return failed(tx ? rx.error() : tx.error());
  const auto joined = tx->ip(
      fmt::format("link add wire0 type veth peer name tap0 netns {}\nlink set wire0 {}\n", rx->name(), kQuietAndUp));
  const auto up = joined ? rx->ip(fmt::format("link set tap0 {}\n", kQuietAndUp)) : joined;
  if (!up) return failed(up.error());
  return VethPair(*std::move(tx), *std::move(rx));
}

Result<KernelCounters> kernel_counters(const LinkEnd& end) {
  Words words{"ip"};
  if (!end.space.empty()) words.insert(words.end(), {"-n", end.space});
  words.insert(words.end(), {"-j", "-s", "link", "show", "dev", end.interface});
  const auto output = run_command(words);
  if (!output) return output.error();
  const auto links = nlohmann::json::parse(*output, nullptr, /*allow_exceptions=*/false);
  const nlohmann::json::json_pointer rx("/0/stats64/rx");
  if (!links.is_array() || !links.contains(rx) || !links.at(rx).contains("packets"))
    return Error{fmt::format("{} does not report what {} received: {}", joined(words), end.interface, *output)};
  const auto& counters = links.at(rx);
  return KernelCounters{.received = counters.at("packets").get<std::uint64_t>(),
                        .receive_dropped = counters.value("dropped", std::uint64_t{0})};
}

}  // namespace parshall::tester
