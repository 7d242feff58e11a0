// SPDX-License-Identifier: Apache-2.0
#include "tester/device/scenario.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "tester/device/network.hpp"

namespace parshall::tester {
namespace {

/// One veth pair: no device at all.
class Wire final : public Scenario {
 public:
  static Result<std::unique_ptr<Scenario>> make(const std::string&) {
    auto wire = std::make_unique<Wire>();
    const std::string links = fmt::format(
        "link set {0} addrgenmode none multicast off up\n"
        "link set {1} addrgenmode none multicast off up\n",
        wire->ends_[0], wire->ends_[1]);
    const Words pair{"ip", "link", "add", wire->ends_[0], "type", "veth", "peer", "name", wire->ends_[1]};
    if (const auto made = run_command(pair); !made) return made.error();
    wire->made_ = true;
    if (const auto set = run_command({"ip", "-batch", "-"}, links); !set) return set.error();
    return std::unique_ptr<Scenario>(std::move(wire));
  }
  ~Wire() override {
    if (made_) static_cast<void>(run_command({"ip", "link", "del", ends_[0]}));
  }
  const std::string& send_interface() const noexcept override { return ends_[0]; }
  const std::string& receive_interface() const noexcept override { return ends_[1]; }

 private:
  std::array<std::string, 2> ends_{fmt::format("pw{}a", ::getpid()), fmt::format("pw{}b", ::getpid())};
  bool made_ = false;
};

/// A namespace with something in it that passes frames on.
class InNetwork : public Scenario {
 public:
  explicit InNetwork(TestNetwork network) : network_(std::move(network)) {}
  const std::string& send_interface() const noexcept override { return network_.send_interface(); }
  const std::string& receive_interface() const noexcept override { return network_.receive_interface(); }

 protected:
  TestNetwork network_;
};

/// "rate=100mbit,burst=32kb" as words: rate, 100mbit, burst, 32kb.
Words words_of(std::string settings) {
  std::ranges::replace_if(
      settings, [](char c) { return c == ',' || c == '='; }, ' ');
  Words words;
  for (std::size_t at = 0; (at = settings.find_first_not_of(' ', at)) != settings.npos;) {
    const std::size_t end = std::min(settings.find(' ', at), settings.size());
    words.push_back(settings.substr(at, end - at));
    at = end;
  }
  return words;
}

/// Linux, forwarding: the addresses of built-in traffic with addresses=benchmark (RFC 2544, RFC 5180) go from `in0` to
/// a neighbour that is not there, by `out0`; built-in frames have `in0`'s address as their destination.
Result<TestNetwork> make_router() {
  auto network = TestNetwork::make();
  if (!network) return network;
  const std::string& name = network->name();
  const auto write = [&](const std::string& file, const char* value) {
    return network->run({"tee", "/proc/sys/net/" + file}, value);
  };
  const std::string ipv4 =
      "link set in0 address 02:00:00:00:00:02\n"
      "addr add 198.51.100.1/24 dev in0\n"
      "addr add 203.0.113.1/24 dev out0\n"
      "route add 198.18.0.0/15 via 203.0.113.2 dev out0\n"
      "neigh replace 203.0.113.2 lladdr 02:00:00:00:00:03 nud permanent dev out0\n";
  if (const auto done = run_command({"ip", "-n", name, "-batch", "-"}, ipv4); !done) return done.error();
  if (const auto done = write("ipv4/ip_forward", "1"); !done) return done.error();
  for (const char* interface : {"all", "in0", "out0"})
    if (const auto done = write(fmt::format("ipv4/conf/{}/rp_filter", interface), "0"); !done) return done.error();
  if (::access("/proc/sys/net/ipv6", F_OK) != 0) return network;
  const std::string ipv6 =
      "addr add 2001:db8:1::1/64 dev in0 nodad\n"
      "addr add 2001:db8:2::1/64 dev out0 nodad\n"
      "route add 2001:2::/48 via 2001:db8:2::2 dev out0\n"
      "neigh replace 2001:db8:2::2 lladdr 02:00:00:00:00:03 nud permanent dev out0\n";
  if (const auto done = run_command({"ip", "-n", name, "-batch", "-"}, ipv6); !done) return done.error();
  if (const auto done = write("ipv6/conf/all/forwarding", "1"); !done) return done.error();
  return network;
}

Result<std::unique_ptr<Scenario>> router(const std::string&) {
  auto network = make_router();
  if (!network) return network.error();
  return std::unique_ptr<Scenario>(std::make_unique<InNetwork>(*std::move(network)));
}

/// A router whose way out has a queueing discipline of tc(8).
Result<std::unique_ptr<Scenario>> router_with(const std::string& discipline, const std::string& settings) {
  auto network = make_router();
  if (!network) return network.error();
  Words words{"tc", "-n", network->name(), "qdisc", "replace", "dev", "out0", "root", discipline};
  for (std::string& word : words_of(settings)) words.push_back(std::move(word));
  const auto done = run_command(words);
  if (!done && done.error().message.find("unknown") != std::string::npos)
    return Error{fmt::format("this kernel has no {}: {}", discipline,
                             discipline == "netem" ? "take link:..., which is of this program" : done.error().message)};
  if (!done) return done.error();
  return std::unique_ptr<Scenario>(std::make_unique<InNetwork>(*std::move(network)));
}

/// "loss=1%,delay=10ms" as options of `parshall test link`.
Result<Words> link_options(const std::string& settings) {
  static const Words kNames{"loss", "duplicate", "reorder", "gap", "delay", "jitter", "limit", "seed"};
  Words options;
  const Words given = words_of(settings);
  for (std::size_t i = 0; i < given.size(); i += 2) {
    if (std::ranges::find(kNames, given[i]) == kNames.end() || i + 1 == given.size())
      return Error{fmt::format("link: \"{}\": it takes NAME=VALUE, separated by commas, of {}", given[i],
                               fmt::join(kNames, ", "))};
    std::string value = given[i + 1];
    if (value.ends_with('%')) value.pop_back();
    options.push_back("--" + given[i] + "=" + value);
  }
  return options;
}

/// `parshall test link` between the interfaces.
class LossyLink final : public InNetwork {
 public:
  static Result<std::unique_ptr<Scenario>> make(const std::string& settings) {
    auto network = TestNetwork::make();
    if (!network) return network.error();
    Words words{"/proc/self/exe", "test", "link", "-q", "-i", "in0", "--forward", "out0"};
    const auto options = link_options(settings);
    if (!options) return options.error();
    words.insert(words.end(), options->begin(), options->end());
    std::array<char, 4096> path;
    const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
    if (length > 0) words[0].assign(path.data(), static_cast<std::size_t>(length));
    auto process = ChildProcess::start(network->inside(std::move(words)));
    if (!process) return process.error();
    return std::unique_ptr<Scenario>(std::make_unique<LossyLink>(*std::move(network), *std::move(process)));
  }
  LossyLink(TestNetwork network, ChildProcess process) : InNetwork(std::move(network)), process_(std::move(process)) {}
  Result<std::string> finish() override { return process_.stop(); }
  std::optional<Error> problem() const override {
    if (process_.is_running()) return std::nullopt;
    return Error{"the link ended by itself: what it said is above"};
  }

 private:
  ChildProcess process_;
};

constexpr std::array kScenarios{
    ScenarioEntry{"wire", "", "a veth pair: no device at all", Wire::make},
    ScenarioEntry{"router", "", "Linux, forwarding IPv4 and IPv6", router},
    ScenarioEntry{"tbf", "rate=100mbit,burst=32kb,limit=100kb", "a router with tc's token bucket at its way out",
                  [](const std::string& settings) { return router_with("tbf", settings); }},
    ScenarioEntry{"netem", "loss=1%,delay=10ms 1ms", "a router with tc's network emulator, where the kernel has it",
                  [](const std::string& settings) { return router_with("netem", settings); }},
    ScenarioEntry{"link", "loss=1,delay=10ms,jitter=1ms,reorder=5,duplicate=2",
                  "parshall test link, which does as netem does, and tells what it did", LossyLink::make},
};

}  // namespace

std::span<const ScenarioEntry> scenario_registry() noexcept { return kScenarios; }

Result<std::unique_ptr<Scenario>> make_scenario(const std::string& text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string name = text.substr(0, colon), settings = text.substr(std::min(colon + 1, text.size()));
  const auto* const entry = std::ranges::find(kScenarios, name, &ScenarioEntry::name);
  if (entry == kScenarios.end()) {
    Words names;
    for (const ScenarioEntry& known : kScenarios) names.emplace_back(known.name);
    return Error{fmt::format("\"{}\" is no device that can be made: there are {} (parshall list scenarios)", name,
                             fmt::join(names, ", "))};
  }
  if (entry->settings.empty() && !settings.empty())
    return Error{fmt::format("{} has no settings: leave out \":{}\"", name, settings)};
  if (!entry->settings.empty() && settings.empty())
    return Error{fmt::format("{} needs settings, such as {}:{}", name, name, entry->settings)};
  return entry->make(settings);
}

}  // namespace parshall::tester
