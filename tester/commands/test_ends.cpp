// SPDX-License-Identifier: Apache-2.0
#include "tester/commands/test_ends.hpp"

#include <fmt/format.h>

#include <random>

#include "cli/messages.hpp"
#include "cli/signals.hpp"
#include "tester/learning.hpp"
#include "tester/seeds.hpp"
#include "traffic/traffic_text.hpp"

namespace parshall::cli {

void declare(Command command, EndOptions& o) {
  command
      .add_option("-i,--interface", o.send_by, "Interface to send on: kernel interface, PCI address, or vdev:NAME,ARGS")
      ->group("Device");
  command.add_option("--receive-on", o.receive_by, "Interface to receive on (default: the same)")->group("Device");
  command
      .add_option(
          "--through", o.through,
          "Test a device that the program makes, such as router or link:loss=1,delay=10ms (parshall list scenarios)")
      ->group("Device");
  command.add_option("--via", o.via, "Method of access to kernel interfaces")
      ->check(among({"af_packet", "af_xdp"}))
      ->capture_default_str()
      ->group("Device");
  command.add_option("--eal", o.eal, "More DPDK EAL arguments, in one string")->group("Device");
}

void declare(Command command, TestTrafficOptions& o) {
  command
      .add_option(
          "-g,--generate", o.traffic,
          "Traffic, such as flows=1000,size=imix; defaults: flows=100, protocol=udp, size=128 and addresses=benchmark")
      ->group("Traffic");
}

void declare_seed(Command command, std::optional<std::uint64_t>& seed) {
  command
      .add_option("--seed", seed,
                  "Seed of the traffic (unless -g has seed=), and of a made device, which gets another one in each "
                  "trial (unless link:...,seed=N); default: random, and in the report")
      ->group("Traffic");
}

std::uint64_t settle_seeds(std::optional<std::uint64_t> asked, EndOptions& ends, TestTrafficOptions& traffic) {
  if (!asked) {
    std::random_device random;
    asked = tester::seed_of(std::uint64_t{random()} << 32 | random(), tester::Chance::traffic);
  }
  const std::string own = fmt::format("seed={}", tester::seed_of(*asked, tester::Chance::traffic));
  traffic.traffic = changed_traffic(own, traffic.traffic);
  ends.through = tester::with_seed(ends.through, tester::seed_of(*asked, tester::Chance::device));
  return *asked;
}

std::string plan_text(const TestTrafficOptions& options) {
  constexpr std::string_view kDefaults = "flows=100,protocol=udp,size=128,addresses=benchmark";
  return changed_traffic(kDefaults, options.traffic);
}

Result<TrafficSpec> plan_traffic(const TestTrafficOptions& options) {
  auto spec = TrafficSpec::parse(plan_text(options));
  if (!spec) return spec;
  spec->trailer = true;
  if (const auto conflict = conflict_of(*spec)) return *conflict;
  return spec;
}

Result<TestFrames> make_frames(const TrafficSpec& spec) {
  auto trace = Trace::make(spec);
  if (!trace) return trace.error();
  return TestFrames{.trace = std::make_shared<const Trace>(*std::move(trace)),
                    .streams = static_cast<std::uint32_t>(spec.flows)};
}

std::optional<Error> conflict_of(const EndOptions& options) {
  if (options.send_by.empty() == options.through.empty())
    return Error{
        "name the device to test: -i INTERFACE (and --receive-on), or --through SCENARIO (parshall list scenarios)"};
  if (!options.through.empty() && !options.receive_by.empty())
    return Error{"--through makes its own interfaces: leave out --receive-on"};
  return std::nullopt;
}

Result<TestEnds> TestEnds::open(const EndOptions& options) {
  TestEnds test;
  std::string send_by = options.send_by, receive_by = options.receive_by.empty() ? send_by : options.receive_by;
  if (!options.through.empty()) {
    auto scenario = tester::make_scenario(options.through, stop_asked);
    if (!scenario) return scenario.error();
    test.scenario_ = *std::move(scenario);
    send_by = test.scenario_->send_interface();
    receive_by = test.scenario_->receive_interface();
  }
  const bool is_one = send_by == receive_by;
  DpdkOptions opening{.device = send_by, .via = options.via, .sinks = 1, .receives = is_one, .eal = options.eal};
  auto port = DpdkPort::open(opening);
  if (!port) return port.error();
  test.send_port_ = *std::move(port);
  test.sink_ = std::move(test.send_port_->take_sinks().front());
  if (!is_one) {
    opening.device = receive_by;
    opening.sinks = 0;
    opening.receives = true;
    auto other = DpdkPort::open(opening);
    if (!other) return other.error();
    test.receive_port_ = *std::move(other);
  }
  DpdkPort& receiving = is_one ? *test.send_port_ : *test.receive_port_;
  test.source_ = std::move(receiving.take_queues().front());
  test.description_ =
      options.through.empty()
          ? is_one ? test.send_port_->description() : test.send_port_->description() + " -> " + receiving.description()
          : fmt::format("{} between {} and {}, via {}", options.through, send_by, receive_by, options.via);
  return test;
}

std::optional<Error> too_long(std::span<const TestFrames> frames, std::uint32_t longest_frame) {
  for (const TestFrames& kind : frames)
    if (const std::uint32_t longest = kind.trace->longest_frame() + kFcsBytes; longest > longest_frame)
      return Error{fmt::format("the sending device takes frames of up to {} bytes, not of {}: give a smaller size",
                               longest_frame, longest)};
  return std::nullopt;
}

Result<TestEnds> prepare_test(const EndOptions& options, std::span<const TestFrames> frames, const TestStart& start) {
  auto test = TestEnds::open(options);
  if (!test) return test;
  if (!start.quiet) say(start.command, test->description());
  if (const auto error = too_long(frames, test->longest_frame())) return *error;
  if (const auto error = test->problem()) return *error;
  for (const TestFrames& kind : frames) {
    if (start.learn_ns == 0) break;
    if (const auto error = tester::wait_until_ready(kind.trace, kind.streams, test->ends(), start.learn_ns, stop_asked))
      return frames.size() == 1 ? *error
                                : Error{fmt::format("with frames of up to {} bytes: {}",
                                                    kind.trace->longest_frame() + kFcsBytes, error->message)};
  }
  if (const auto error = test->problem()) return *error;
  return test;
}

}  // namespace parshall::cli
