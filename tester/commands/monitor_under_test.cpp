// SPDX-License-Identifier: Apache-2.0
#include "tester/commands/monitor_under_test.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "app/watch_options.hpp"
#include "base/thread_name.hpp"
#include "cli/signals.hpp"
#include "pipeline/capture/dpdk/dpdk_port.hpp"
#include "tester/host/stolen_time.hpp"
#include "traffic/lent_sink.hpp"
#include "traffic/memory_source.hpp"
#include "traffic/sender.hpp"

namespace parshall::cli {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 10'000ms;
constexpr const char *kRing = "vdev:net_ring0", *kOtherRing = "vdev:net_ring1";

/// Options of `parshall watch` without meaning here: there is only one source, and no end or report of its own.
constexpr std::array kMeaningless{"--read",   "--interface", "--generate", "--via",   "--forward",  "--dscp",
                                  "--queues", "--workers",   "--eal",      "--count", "--duration", "--export",
                                  "--hook",   "--format",    "--output",   "--every", "--live",     "--top",
                                  "--sort",   "--explain",   "--quiet"};

Result<Plan> parse_watch(const std::string& words) {
  WatchOptions watch;
  WordParser parser;
  declare(parser.command(), watch);
  if (auto problem = parser.parse(words)) return *std::move(problem);
  for (const char* option : kMeaningless)
    if (parser.count(option) != 0)
      return Error{fmt::format(
          "{} has no effect in this test: the monitor watches one ring, and the test writes the report", option)};
  Plan plan;
  if (auto problem = watch.given.apply_to(plan)) return *std::move(problem);
  plan.source.interface = kRing;
  return plan;
}

struct Sent {
  SendCounts counts;
  std::uint64_t elapsed_ns = 0;
  tester::HostTrouble host;
};

/// Sends until the plan's end, or until the user stops the program.
Sent send(const TestFrames& frames, FrameSink& sink, const SendPlan& plan) {
  Sender sender(std::make_unique<MemorySource>(frames.trace, ~std::uint64_t{0}), std::make_unique<FrameCopier>(),
                std::make_unique<LentSink>(sink), plan);
  const tester::StolenTimes stolen_before = tester::stolen_times();
  while (!sender.finished() && !stop_asked())
    if (sender.step() == 0) rest_until_due(sender);
  sender.finish();
  return {.counts = sender.counts(),
          .elapsed_ns = sender.elapsed_ns(),
          .host = {.late = sender.lateness_ns().count_above(tester::kLateNs),
                   .latest_ns = sender.lateness_ns().largest().value_or(0),
                   .stolen_ns = tester::most_stolen_ns(stolen_before, tester::stolen_times())}};
}

/// Takes packets from a source and discards them.
class Drain {
 public:
  explicit Drain(PacketSource& source) {
    thread_ = std::thread([this, &source] {
      name_this_thread("drain");
      std::array<RawPacket, 256> packets;
      while (!stop_.load(std::memory_order_relaxed))
        if (source.poll(packets) == 0) std::this_thread::yield();
    });
  }
  ~Drain() {
    stop_.store(true, std::memory_order_relaxed);
    thread_.join();
  }
  Drain(const Drain&) = delete;
  Drain& operator=(const Drain&) = delete;

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace

/// Trials of a monitor with one kind of frames.
class MonitorUnderTest::Trials final : public tester::TrialRunner {
 public:
  Trials(MonitorUnderTest& monitor, TestFrames frames) : monitor_(monitor), frames_(std::move(frames)) {}

  /// Sends frames three times through another such ring to a thread that only takes them out; returns the best result.
  Result<double> ceiling_pps() override {
    const auto port = DpdkPort::open({.device = kOtherRing, .sinks = 1, .eal = monitor_.eal_});
    if (!port) return port.error();
    const auto sinks = (*port)->take_sinks();
    const auto queues = (*port)->take_queues();
    const Drain drain(*queues.front());
    double most_pps = 0;
    const Sent taken = send(frames_, *sinks.front(), {.duration_ns = kCeilingNs});
    for (int i = 0; i < 3 && !stop_asked(); ++i) {
      const Sent sent = send(frames_, *sinks.front(),
                             {.rate = kUnreachable, .frames = std::max<std::uint64_t>(taken.counts.sent, 1)});
      if (sent.elapsed_ns == 0) return Error{"no frame could be sent"};
      most_pps = std::max(most_pps, static_cast<double>(sent.counts.sent) * 1e9 / static_cast<double>(sent.elapsed_ns));
    }
    return most_pps;
  }

  Result<tester::TrialOutcome> measure(const tester::TrialInput& input) override {
    if (const auto error = monitor_.wait_for_ring()) return *error;
    const auto before = monitor_.counted();
    if (!before) return before.error();
    const Sent sent = send(frames_, *monitor_.sink_, trial_plan(input));
    monitor_.sent_ += sent.counts.sent;
    std::this_thread::sleep_for(std::chrono::nanoseconds(monitor_.settle_ns_));
    const auto after = monitor_.counted();
    if (!after) return after.error();
    const std::uint64_t offered = std::max(sent.counts.taken, tester::due_frames(input));
    return tester::TrialOutcome{.load_pps = input.load_pps,
                                .duration_s = input.duration_s,
                                .offered = offered,
                                .sent = sent.counts.sent,
                                .received = *after - *before,
                                .unsent = offered - sent.counts.sent - sent.counts.refused,
                                .host = sent.host};
  }

 private:
  MonitorUnderTest& monitor_;
  TestFrames frames_;
};

Result<MonitorPlan> plan_monitor(const std::string& words) {
  const auto problem = [&](const Error& error) {
    return Error{fmt::format("--monitor \"{}\": {}", words, error.message)};
  };
  auto plan = parse_watch(words);
  if (!plan) return problem(plan.error());
  if (const auto wiring = wire(*plan); !wiring) return problem(wiring.error());
  return MonitorPlan{.words = words, .watch = *std::move(plan)};
}

Result<std::unique_ptr<MonitorUnderTest>> MonitorUnderTest::start(const MonitorPlan& plan, const std::string& eal,
                                                                  std::uint64_t settle_ns) {
  std::unique_ptr<MonitorUnderTest> monitor(new MonitorUnderTest);
  monitor->eal_ = eal;
  monitor->settle_ns_ = settle_ns;
  const SourcePlan& source = plan.watch.source;
  auto wiring = wire(plan.watch, {.keeps_ended = false, .commits_first = true});
  if (!wiring) return wiring.error();
  const auto open_ring = [&, seed = wiring->session.seed]() -> Result<Input> {
    auto opened = DpdkPort::open({.device = kRing,
                                  .sinks = 1,
                                  .sinks_wait = false,
                                  .descriptors = source.dpdk_descriptors(),
                                  .mbufs_per_queue = source.mbufs,
                                  .seed = seed,
                                  .eal = eal});
    if (!opened) return opened.error();
    const std::shared_ptr<DpdkPort> port = *std::move(opened);
    monitor->sink_ = std::move(port->take_sinks().front());
    return Input{.description = port->description(),
                 .sources = port->take_queues(),
                 .dealing = Dealing::by_device,
                 .owner = port,
                 .device = [port] { return port->counters(); }};
  };
  auto run = Run::open(plan.watch, *std::move(wiring), open_ring);
  if (!run) return run.error();
  monitor->run_ = *std::move(run);
  monitor->description_ = fmt::format("parshall watch {}(behind a ring of {} packets)",
                                      plan.words.empty() ? "" : plan.words + " ", source.dpdk_descriptors());
  if (const auto error = monitor->run_->start()) return *error;
  return monitor;
}

MonitorUnderTest::~MonitorUnderTest() = default;

std::string MonitorUnderTest::received() const {
  return "packets in the flow records of the monitor; packets that arrive at a full ring are lost";
}

std::unique_ptr<tester::TrialRunner> MonitorUnderTest::measurer(TestFrames frames) {
  return std::make_unique<Trials>(*this, std::move(frames));
}

/// Waits for the ring. Frames left there came too late for their trial, and must not count for the next one.
std::optional<Error> MonitorUnderTest::wait_for_ring() const {
  for (auto waited = 0ms; run_->session().packets_polled() < sent_; waited += 1ms) {
    if (waited >= kPatience) return Error{"the monitor does not read the packets in its ring"};
    std::this_thread::sleep_for(1ms);
  }
  return std::nullopt;
}

Result<std::uint64_t> MonitorUnderTest::counted() {
  const auto report = run_->session().snapshot();
  if (!report) return Error{"the monitor ended by itself"};
  const Accounting& total = report->summary.total;
  return total[Counter::live_flow_packets] + total[Counter::ended_record_packets];
}

std::optional<Error> MonitorUnderTest::finish() {
  if (const auto error = wait_for_ring()) return error;
  run_->session().stop();
  const Accounting total = run_->session().final_report().summary.total;
  if (!total.balanced()) return Error{"the monitor's account does not balance"};
  if (total[Counter::polled] != sent_)
    return Error{
        fmt::format("{} packets entered the ring, but the monitor received {}", sent_, total[Counter::polled])};
  return std::nullopt;
}

}  // namespace parshall::cli
