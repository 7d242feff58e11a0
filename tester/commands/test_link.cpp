// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>
#include <thread>

#include "app/send_orders.hpp"
#include "base/counted.hpp"
#include "base/or_null.hpp"
#include "base/parse.hpp"
#include "cli/command_line.hpp"
#include "cli/messages.hpp"
#include "cli/signals.hpp"
#include "cli/whole_file.hpp"
#include "pipeline/capture/dpdk/dpdk_port.hpp"
#include "tester/commands/test.hpp"
#include "tester/device/link.hpp"

namespace parshall::cli {
namespace {

constexpr const char* kTestLink = "test link";

struct LinkOptions {
  std::string from, to, via = "af_packet", delay = "0", jitter = "0", output = "-";
  double loss = 0, duplicate = 0, reorder = 0;
  std::uint32_t gap = 1;
  std::size_t limit = 1000;
  std::uint64_t seed = 1;
  bool both_ways = false, prompt = false, quiet = false;
};

/// One end of the link.
struct End {
  std::unique_ptr<DpdkPort> port;
  std::unique_ptr<PacketSource> source;
  std::unique_ptr<FrameSink> sink;

  static Result<End> open(const std::string& device, const std::string& via) {
    auto port = DpdkPort::open({.device = device, .via = via, .sinks = 1});
    if (!port) return port.error();
    End end{.port = *std::move(port), .source = nullptr, .sink = nullptr};
    end.source = std::move(end.port->take_queues().front());
    end.sink = std::move(end.port->take_sinks().front());
    return end;
  }
};

Result<tester::ImpairmentSettings> settings_of(const LinkOptions& o) {
  const auto delay_ns = parse_duration_ns(o.delay), jitter_ns = parse_duration_ns(o.jitter);
  if (!delay_ns) return Error{fmt::format("--delay {}: give a time, such as 10ms", o.delay)};
  if (!jitter_ns || *jitter_ns > *delay_ns)
    return Error{fmt::format("--jitter {}: give a time, such as 1ms, of at most --delay", o.jitter)};
  return tester::ImpairmentSettings{.loss = o.loss / 100,
                                    .duplicate = o.duplicate / 100,
                                    .reorder = o.reorder / 100,
                                    .gap = o.gap,
                                    .delay_ns = *delay_ns,
                                    .jitter_ns = *jitter_ns,
                                    .limit = o.limit,
                                    .seed = o.seed};
}

/// Both directions of a link, and their seeds: that of the way back is the next one.
struct Directions {
  tester::LinkSeeds forward, backward;
  std::uint64_t seed = 1;

  bool reseed(std::uint64_t to) {
    seed = to;
    return forward.hand_over(to, stop_asked) && backward.hand_over(to + 1, stop_asked);
  }
};

/// Carries out lines of standard input, and answers each, until the user ends the program.
void take_orders(Directions& link) {
  constexpr std::string_view kSeed = "seed ";
  constexpr int kLookMs = 100;
  Prompt prompt;
  while (!stop_asked()) {
    pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    ::poll(&input, prompt.ended() ? 0 : 1, kLookMs);
    while (const auto line = prompt.line()) {
      const auto seed = line->starts_with(kSeed) ? parse_count(line->substr(kSeed.size())) : std::nullopt;
      if (!seed) {
        say(kTestLink, fmt::format("\"{}\": give seed N", *line));
      } else if (link.reseed(*seed)) {
        fmt::print("{}\n", *line);
        std::fflush(stdout);
      }
    }
  }
}

/// Results of one direction. `dropped`: sent frames that the sending device dropped.
struct Passed {
  const char* name;
  const tester::LinkCounts& counts;
  std::uint64_t dropped;
};

nlohmann::ordered_json json_of(const Passed& passed) {
  const tester::LinkCounts& counts = passed.counts;
  const tester::ImpairmentCounts& did = counts.impairment;
  return {{"entered", counts.entered},
          {"missed", or_null(counts.missed)},
          {"too_long", counts.too_long},
          {"lost", did.lost},
          {"queue_full", did.refused},
          {"duplicated", did.duplicated},
          {"sent_at_once", did.sent_at_once},
          {"delayed", did.delayed},
          {"still_waiting", counts.still_waiting},
          {"sent", counts.sent},
          {"unsent", counts.unsent},
          {"dropped", passed.dropped}};
}

/// Reports losses that nobody asked for.
void tell_losses(const Passed& passed) {
  const std::uint64_t missed = passed.counts.missed.value_or(0), unsent = passed.counts.unsent + passed.dropped;
  if (missed + unsent == 0) return;
  say(kTestLink, fmt::format("{}: {} entered, {} more were dropped in a full queue, {} could not be forwarded",
                             passed.name, counted(passed.counts.entered, "frame"), missed, unsent));
}

int run(const LinkOptions& options) {
  const auto settings = settings_of(options);
  if (!settings) return fail(kTestLink, settings.error(), kUsage);
  if (options.from == options.to)
    return fail(kTestLink, Error{"a link needs two interfaces: -i and --forward name the same one"}, kUsage);
  if (const auto error = prepare_for(options.output)) return fail(kTestLink, *error, kFailed);
  auto a = End::open(options.from, options.via);
  if (!a) return fail(kTestLink, a.error(), kFailed);
  auto b = End::open(options.to, options.via);
  if (!b) return fail(kTestLink, b.error(), kFailed);
  catch_signals();
  if (!options.quiet) say(kTestLink, fmt::format("{} -> {}", a->port->description(), b->port->description()));

  tester::ImpairmentSettings back = options.both_ways ? *settings : tester::ImpairmentSettings{.limit = options.limit};
  back.seed = settings->seed + 1;
  Directions link{.seed = settings->seed};
  tester::LinkCounts counts, returned;
  std::thread backward([&] { returned = tester::run_link(*b->source, *a->sink, back, link.backward, stop_asked); });
  std::thread forward([&] { counts = tester::run_link(*a->source, *b->sink, *settings, link.forward, stop_asked); });
  if (options.prompt) take_orders(link);
  forward.join();
  backward.join();
  const Passed there{"forward", counts, b->port->dropped_in_sending()},
      back_again{"backward", returned, a->port->dropped_in_sending()};
  if (!options.quiet) {
    tell_losses(there);
    tell_losses(back_again);
  }
  const nlohmann::ordered_json report = {
      {"command", command_line()}, {"seed", link.seed}, {"forward", json_of(there)}, {"backward", json_of(back_again)}};
  if (const auto error = write_whole(options.output, report.dump(2) + "\n")) return fail(kTestLink, *error, kFailed);
  return kDone;
}

}  // namespace

void add_test_link(Command test, int& status) {
  Command command = test.add_subcommand("link", "Emulate a lossy link between two interfaces, as Linux's netem does");
  auto options = std::make_shared<LinkOptions>();
  LinkOptions& o = *options;
  const auto percent = [&](const char* name, double& value, const char* help) {
    command->add_option(name, value, help)->check(in_range(0.0, 100.0))->capture_default_str();
  };
  command->add_option("-i,--interface", o.from, "Interface where frames arrive")->required();
  command->add_option("--forward", o.to, "Interface to forward to; frames that arrive there go back")->required();
  command->add_option("--via", o.via, "Method of access to kernel interfaces")
      ->check(among({"af_packet", "af_xdp"}))
      ->capture_default_str();
  percent("--loss", o.loss, "Percentage of frames to drop");
  percent("--duplicate", o.duplicate, "Percentage of frames to duplicate");
  percent("--reorder", o.reorder, "Percentage of frames to forward at once, before delayed ones");
  command->add_option("--gap", o.gap, "Only one in this number of frames may be forwarded at once")
      ->capture_default_str();
  command->add_option("--delay", o.delay, "Delay of the other frames, such as 10ms")->capture_default_str();
  command->add_option("--jitter", o.jitter, "Largest deviation from the delay, in both directions")
      ->capture_default_str();
  command->add_option("--limit", o.limit, "Capacity of the queue in frames")
      ->check(in_range(std::size_t{1}, std::size_t{1} << 22))
      ->capture_default_str();
  command->add_flag("--both-ways", o.both_ways,
                    "Treat frames in the reverse direction alike; otherwise only forward them");
  command->add_option("--seed", o.seed, "Seed of all random choices")->capture_default_str();
  command->add_flag(
      "--prompt", o.prompt,
      "Read orders from standard input: seed N restarts with that seed; each order is answered with its line");
  command->add_option("-o,--output", o.output, "File for a report in JSON")->capture_default_str();
  command->add_flag("-q,--quiet", o.quiet, "Print only errors");
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace parshall::cli
