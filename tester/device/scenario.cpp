// SPDX-License-Identifier: Apache-2.0
#include "tester/device/scenario.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>
#include <utility>

#include "base/parse.hpp"
#include "base/suggestion.hpp"
#include "tester/device/fair_queue.hpp"
#include "tester/device/router.hpp"
#include "tester/device/settings.hpp"
#include "tester/seeds.hpp"

namespace parshall::tester {
namespace {

/// A veth pair, without any device.
class Wire final : public Scenario {
 public:
  static Result<std::unique_ptr<Scenario>> make(const std::string&, const Stop&) {
    sweep();
    auto wire = std::make_unique<Wire>();
    const std::string links =
        fmt::format("link set {} {}\nlink set {} {}\n", wire->ends_[0], kQuietAndUp, wire->ends_[1], kQuietAndUp);
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
  /// Removes pairs that killed processes left behind.
  static void sweep() {
    std::error_code none;
    for (std::filesystem::directory_iterator entry("/sys/class/net", none), end; !none && entry != end;
         entry.increment(none)) {
      const std::string name = entry->path().filename();
      pid_t maker = 0;
      if (!name.starts_with(kStem) || !name.ends_with('a')) continue;
      const char* const last = name.data() + name.size() - 1;
      const auto [rest, problem] = std::from_chars(name.data() + kStem.size(), last, maker);
      if (problem == std::errc() && rest == last && maker > 0 && is_gone(maker))
        static_cast<void>(run_command({"ip", "link", "del", name}));
    }
  }

  static constexpr std::string_view kStem = "parsh";  ///< followed by the process ID
  std::array<std::string, 2> ends_{fmt::format("{}{}a", kStem, ::getpid()), fmt::format("{}{}b", kStem, ::getpid())};
  bool made_ = false;
};

/// Splits "rate=100mbit,burst=32kb" into words: rate, 100mbit, burst, 32kb.
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

Result<std::unique_ptr<Scenario>> router(const std::string&, const Stop&) {
  auto network = make_router();
  if (!network) return network.error();
  return std::unique_ptr<Scenario>(std::make_unique<InNetwork>(*std::move(network)));
}

/// Makes a router whose output has a queueing discipline of tc(8).
Result<std::unique_ptr<Scenario>> router_with(const std::string& discipline, const std::string& settings,
                                              const Stop& stop) {
  auto network = make_router();
  if (!network) return network.error();
  Words words{"tc", "-n", network->space().name(), "qdisc", "replace", "dev", "out0", "root", discipline};
  for (std::string& word : words_of(settings)) words.push_back(std::move(word));
  const auto done = run_command(words, {}, std::chrono::seconds(30), stop);
  if (!done && done.error().message.find("unknown") != std::string::npos)
    return Error{
        fmt::format("this kernel has no {}: {}", discipline,
                    discipline == "netem" ? "use link:..., which is part of this program" : done.error().message)};
  if (!done) return done.error();
  return std::unique_ptr<Scenario>(std::make_unique<InNetwork>(*std::move(network)));
}

constexpr std::array<std::string_view, 8> kLinkSettings{"loss",  "duplicate", "reorder", "gap",
                                                        "delay", "jitter",    "limit",   "seed"};

/// Parsed settings of a lossy link.
struct LinkOrder {
  Words options;  ///< options for `parshall test link`
  std::uint64_t seed = 1;
};

/// Parses "loss=1%,delay=10ms".
Result<LinkOrder> order_link(const std::string& text) {
  auto settings = parse_settings("link", text, kLinkSettings);
  if (!settings) return settings.error();
  LinkOrder order;
  for (auto& [name, value] : *settings) {
    if (name == "seed") {
      const auto seed = parse_count(value);
      if (!seed) return Error{fmt::format("link: seed={}: give a whole number", value)};
      order.seed = *seed;
      continue;
    }
    if (value.ends_with('%')) value.pop_back();
    order.options.push_back("--" + name + "=" + value);
  }
  order.options.push_back(fmt::format("--seed={}", order.seed));
  return order;
}

/// Runs `parshall-test link` between the interfaces.
class LossyLink final : public InNetwork {
 public:
  static Result<std::unique_ptr<Scenario>> make(const std::string& settings, const Stop&) {
    auto network = TestNetwork::make();
    if (!network) return network.error();
    const auto self = own_path();
    if (!self) return self.error();
    Words words{*self, "link", "-q", "--prompt", "-i", "in0", "--forward", "out0"};
    const auto order = order_link(settings);
    if (!order) return order.error();
    words.insert(words.end(), order->options.begin(), order->options.end());
    auto process = Child::start_to_talk(in_space(network->space().name(), std::move(words)), Child::Errors::ours);
    if (!process) return process.error();
    return std::unique_ptr<Scenario>(
        std::make_unique<LossyLink>(*std::move(network), *std::move(process), order->seed));
  }
  LossyLink(TestNetwork network, Child process, std::uint64_t seed)
      : InNetwork(std::move(network)), process_(std::move(process)), seed_(seed) {}
  ~LossyLink() override { stop(); }
  Result<std::string> finish() override {
    const auto end = stop();
    if (!end) return Error{"the link does not end although it was killed"};
    if (!end->is_good()) return Error{"the link " + end->text()};
    const std::string said = process_.output();
    return said.substr(std::min(said.find('{'), said.size()));  // answers come first
  }
  Result<std::optional<std::uint64_t>> begin_trial(std::uint64_t trial) override {
    const std::uint64_t seed = trial_seed(seed_, trial);
    const std::string order = fmt::format("seed {}\n", seed);
    answers_ += order;
    process_.say(order);
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (process_.output() != answers_) {
      if (const auto error = problem()) return *error;
      if (std::chrono::steady_clock::now() >= until) return Error{"the link does not answer"};
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return std::optional(seed);
  }
  std::optional<Error> problem() const override {
    if (process_.is_running()) return std::nullopt;
    return Error{"the link ended by itself: its messages are above"};
  }

 private:
  std::optional<ChildEnd> stop() {
    process_.send(SIGINT);
    const auto end = process_.wait(std::chrono::seconds(10));
    if (!end) process_.send(SIGKILL);
    return end ? end : process_.wait(std::chrono::seconds(1));
  }

  Child process_;
  std::uint64_t seed_;
  std::string answers_;  ///< all expected answers
};

constexpr std::array kScenarios{
    ScenarioEntry{"wire", "", "a veth pair without any device", Wire::make},
    ScenarioEntry{"router", "", "Linux, forwarding IPv4 and IPv6", router},
    ScenarioEntry{"tbf", "rate=10mbit,burst=3kb,limit=10kb", "a router with tc's token bucket at its output",
                  [](const std::string& settings, const Stop& stop) { return router_with("tbf", settings, stop); }},
    ScenarioEntry{"fair-queue", "rate=10mbit,flows=20,limit=32,quantum=1514",
                  "a router that shares its output fairly: each flow has a queue of limit packets, and sends quantum "
                  "bytes in turn (HTB, nft)",
                  fair_queue},
    ScenarioEntry{"netem", "loss=1%,delay=10ms 1ms", "a router with tc's network emulator, if the kernel has it",
                  [](const std::string& settings, const Stop& stop) { return router_with("netem", settings, stop); }},
    ScenarioEntry{"link", "loss=1,delay=10ms,jitter=1ms,reorder=5,duplicate=2",
                  "parshall test link, which works like netem and reports what it did", LossyLink::make},
};

}  // namespace

std::span<const ScenarioEntry> scenario_registry() noexcept { return kScenarios; }

std::string with_seed(const std::string& text, std::uint64_t seed) {
  constexpr std::string_view kPrefix = "link:";
  if (!text.starts_with(kPrefix) || text.size() == kPrefix.size()) return text;
  return text.find("seed=", kPrefix.size()) == text.npos ? fmt::format("{},seed={}", text, seed) : text;
}

Result<std::unique_ptr<Scenario>> make_scenario(const std::string& text, const Stop& stop) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string name = text.substr(0, colon), settings = text.substr(std::min(colon + 1, text.size()));
  const auto* const entry = std::ranges::find(kScenarios, name, &ScenarioEntry::name);
  if (entry == kScenarios.end())
    return Error{fmt::format("\"{}\" is not a device that can be made{}", name,
                             suggestion(name, kScenarios, &ScenarioEntry::name, "parshall list scenarios"))};
  if (entry->settings.empty() && !settings.empty())
    return Error{fmt::format("{} has no settings: leave out \":{}\"", name, settings)};
  if (!entry->settings.empty() && settings.empty())
    return Error{fmt::format("{} needs settings, such as {}:{}", name, name, entry->settings)};
  return entry->make(settings, stop);
}

}  // namespace parshall::tester
