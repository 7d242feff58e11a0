// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "app/commands.hpp"
#include "app/named_source.hpp"
#include "app/send_options.hpp"
#include "app/send_orders.hpp"
#include "app/send_report.hpp"
#include "base/parse.hpp"
#include "base/same_file.hpp"
#include "cli/command_line.hpp"
#include "cli/messages.hpp"
#include "cli/signals.hpp"
#include "cli/whole_file.hpp"
#include "engine/threads.hpp"
#include "parshall/send_source.hpp"
#include "parshall/wiring.hpp"
#include "pipeline/capture/dpdk/dpdk_port.hpp"
#include "pipeline/output/queue/sink.hpp"
#include "traffic/memory_sink.hpp"
#include "traffic/pcap_sink.hpp"
#include "traffic/sending_source.hpp"
#include "traffic/traffic_text.hpp"

namespace parshall::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kSendTick{2};

/// Runs the command once, from its choices to its exit status.
class Send {
 public:
  Send(const SendOptions& options, SendChoices choices) : options_(options), choices_(std::move(choices)) {}

  int run() {
    for (const std::string& path : {options_.file, options_.output})
      if (same_file(options_.capture, path))
        return fail(Error{path + " is the capture itself: name another file"}, kUsage);
    if (options_.output != "-" && (options_.file == options_.output || same_file(options_.file, options_.output)))
      return fail(Error{options_.output + " is the capture to write: name another file for the report"}, kUsage);
    catch_signals();
    try {
      if (const int status = prepare(); status != kDone) return status;
    } catch (const std::bad_alloc&) {
      return fail(Error{"not enough memory: ask for fewer flows"}, kFailed);
    }
    if (!options_.quiet)
      say("send", fmt::format("{} -> {}{}", source_name_, destination_, choices_.ends ? "" : ", until Ctrl-C"));
    const int status = options_.per_flow ? send_and_watch() : send();
    const int end = finish();
    return status == kDone ? end : status;
  }

 private:
  int fail(const Error& error, ExitStatus status) const {
    say("send", error.message);
    return status;
  }

  int prepare() {
    auto source = open_send_source(options_, choices_);
    if (!source) return fail(source.error(), kFailed);
    source_name_ = source->name;
    auto sink = open_sink();
    if (!sink) return fail(sink.error(), kFailed);
    line_bps_ = choices_.line_bps != 0 ? std::optional(choices_.line_bps) : (*sink)->line_bps();
    choices_.plan.shows_sent = options_.per_flow;
    asked_ = choices_.plan.rate;
    const auto plan = on_line(choices_.plan, line_bps_);
    if (!plan) return fail(plan.error(), kUsage);
    sender_ = std::make_shared<Sender>(std::move(source->packets), std::move(source->writer), *std::move(sink), *plan);
    return kDone;
  }

  Result<std::unique_ptr<FrameSink>> open_sink() {
    if (options_.nowhere) {
      destination_ = "memory";
      return std::unique_ptr<FrameSink>(std::make_unique<MemorySink>());
    }
    if (!options_.file.empty()) {
      auto file = PcapSink::create(options_.file);
      if (!file) return file.error();
      destination_ = options_.file == "-" ? "standard output" : options_.file;
      pcap_ = file->get();
      return std::unique_ptr<FrameSink>(*std::move(file));
    }
    auto port = DpdkPort::open({.device = options_.interface,
                                .via = options_.via,
                                .sinks = 1,
                                .receives = false,
                                .descriptors = kReceiveDescriptors,
                                .eal = options_.eal});
    if (!port) return port.error();
    port_ = *std::move(port);
    destination_ = port_->description();
    if (auto error = wait_for_link()) return *std::move(error);
    return std::move(port_->take_sinks().front());
  }

  std::optional<Error> wait_for_link() {
    const auto until = Clock::now() + std::chrono::nanoseconds(choices_.wait_ns);
    bool told = false;
    while (!port_->link_is_up() && !stop_asked()) {
      if (Clock::now() >= until)
        return Error{fmt::format("the link of {} is down: its other end is not connected (--wait {})",
                                 options_.interface, options_.wait)};
      if (!told && !options_.quiet) say("send", "waiting for the other end of " + options_.interface);
      told = true;
      std::this_thread::sleep_for(kSendTick);
    }
    return std::nullopt;
  }

  /// Sends until all is sent, or until the user ends it.
  int send() {
    std::atomic<bool> stop{false}, done{false};
    std::thread thread([&] {
      name_this_thread("send");
      while (!stop.load(std::memory_order_relaxed) && !sender_->finished())
        if (sender_->step(orders_.carry_out(*sender_)) == 0) rest_until_due(*sender_);
      done.store(true, std::memory_order_release);
    });
    const auto error = options_.core >= 0 ? pin(thread, static_cast<unsigned>(options_.core)) : std::nullopt;
    while (!error && !done.load(std::memory_order_acquire)) {
      if (stop_asked() || !obey()) stop.store(true, std::memory_order_relaxed);
      std::this_thread::sleep_for(kSendTick);
    }
    stop.store(true, std::memory_order_relaxed);
    thread.join();
    return error ? fail(*error, kFailed) : kDone;
  }

  /// Sends and monitors the packets in the sending thread.
  int send_and_watch() {
    Plan plan;
    plan.source.traffic = options_.traffic.empty() ? "flows=1" : options_.traffic;
    plan.threads.busy_poll = true;
    plan.flows.flows = std::max<std::uint64_t>(kWatchedFlows, 2 * choices_.traffic.flows);
    if (options_.core >= 0) plan.threads.cores = {static_cast<unsigned>(options_.core)};
    const auto wiring = wire(plan, {.snapshots = false});
    if (!wiring) return fail(wiring.error(), kUsage);
    const auto entry = std::ranges::find(sink_registry(), options_.format, &SinkEntry::name);
    auto output = Output::open(options_.output);
    if (!output) return fail(output.error(), kFailed);
    Input input{.description = source_name_ + " -> " + destination_,
                .sources = {},
                .dealing = Dealing::by_device,
                .owner = port_,
                .device = nullptr};
    input.sources.push_back(
        std::make_unique<SendingSource>(sender_, [this](Sender& sender) { return orders_.carry_out(sender); }));
    Session session(std::move(input), wiring->session, wiring->schema);
    if (const auto error = session.start()) return fail(*error, kFailed);
    while (!session.finished()) {
      if (stop_asked() || !obey()) session.stop();
      std::this_thread::sleep_for(kSendTick);
    }
    const Report report = session.final_report();
    std::optional<Error> problem;
    const auto ordered = sorted(report, std::string(entry->default_sort), choices_.top, &problem);
    if (!ordered) return fail(ordered.error(), kUsage);
    entry->make({})->write(*ordered, **output);
    (*output)->flush();
    if (problem) say("send", problem->message);
    if ((*output)->reader_gone()) return kReaderGone;
    if ((*output)->error()) return fail(*(*output)->error(), kFailed);
    return kDone;
  }

  /// Carries out the user's orders; returns false if one is to quit.
  bool obey() {
    if (!options_.prompt) return true;
    while (const auto line = prompt_.line()) {
      const auto order = parse_order(*line);
      if (!order) {
        say("send", order.error().message);
      } else if (*order == Order::quit) {
        return false;
      }
    }
    return true;
  }

  enum class Order : std::uint8_t { done, quit };

  /// Parses "rate 2Mpps", "flows=1000", "pause", "go" or "quit".
  Result<Order> parse_order(const std::string& line) {
    if (line.empty()) return Order::done;
    if (line == "quit" || line == "q") return Order::quit;
    if (line == "pause" || line == "go") {
      orders_.set_paused(line == "pause");
      return Order::done;
    }
    if (line.starts_with("rate ")) {
      const auto rate = SendRate::parse(line.substr(5));
      if (!rate) return rate.error();
      if (rate->unit == SendRate::Unit::captured) return Error{"built-in traffic has no speed of its own"};
      const auto on = on_line({.rate = *rate}, line_bps_);
      if (!on) return on.error();
      orders_.set_rate(on->rate);
      return Order::done;
    }
    if (line.find('=') == line.npos)
      return Error{fmt::format("\"{}\": give rate RATE, a setting of -g such as flows=1000, pause, go, or quit", line)};
    const std::string text = changed_traffic(traffic_now_.empty() ? options_.traffic : traffic_now_, line);
    const auto spec = TrafficSpec::parse(text, {.flood = true, .trains = true});
    if (!spec) return spec.error();
    auto source = play(*spec);
    if (!source) return source.error();
    traffic_now_ = text;
    orders_.set_source(*std::move(source));
    return Order::done;
  }

  int finish() {
    sender_->finish();
    SendSummary summary{.command = command_line(),
                        .source = source_name_,
                        .destination = destination_,
                        .asked = asked_text(),
                        .time = choices_.plan.time,
                        .counts = sender_->counts(),
                        .elapsed_ns = sender_->elapsed_ns(),
                        .lateness_ns = &sender_->lateness_ns()};
    summary.dropped = pcap_ ? pcap_->lost() : port_ ? port_->dropped_in_sending() : 0;
    int status = kDone;
    if (options_.per_flow) {
      if (!options_.quiet) write_error_text(send_summary_text(summary));
    } else if (const auto error =
                   write_report(options_.format == "json" ? send_summary_json(summary) : send_summary_text(summary))) {
      status = fail(*error, kFailed);
    }
    if (const auto damage = sender_->sink().damage()) status = fail(*damage, kFailed);
    if (const auto damage = sender_->source().damage(); damage && status == kDone) status = fail(*damage, kDamaged);
    return status;
  }

  std::string asked_text() const { return options_.rate.empty() ? asked_.text() : options_.rate; }

  /// Writes the report; to standard error if a capture goes to standard output.
  std::optional<Error> write_report(const std::string& text) const {
    if (options_.file != "-" || options_.output != "-") return write_whole(options_.output, text);
    write_error_text(text);
    return std::nullopt;
  }

  static constexpr std::uint16_t kReceiveDescriptors = 64;
  static constexpr std::uint64_t kWatchedFlows = 1 << 20;

  const SendOptions& options_;
  SendChoices choices_;
  std::string source_name_, destination_, traffic_now_;
  std::shared_ptr<DpdkPort> port_;
  PcapSink* pcap_ = nullptr;  ///< owned by the sender
  std::optional<double> line_bps_;
  SendRate asked_;
  std::shared_ptr<Sender> sender_;
  SendOrders orders_;
  Prompt prompt_;
};

/// Takes a capture that is named without -r.
std::optional<Error> name_capture(const std::string& path, SendOptions& options) {
  if (path.empty()) return std::nullopt;
  if (!options.capture.empty() || !options.traffic.empty())
    return Error{fmt::format("{} is a second source: leave it out, or leave out -r and -g", path)};
  options.capture = path;
  return missing_file_problem(path);
}

}  // namespace

void add_send(Command app, int& status) {
  Command command = app.add_subcommand("send", "Send built-in traffic, or a capture, to a device or a file");
  auto options = std::make_shared<SendOptions>();
  auto capture = std::make_shared<std::string>();
  command->add_option("SOURCE", *capture, "Capture file, - for standard input; not with -r or -g")->group("What");
  declare(command, *options);
  command->callback([options, capture, &status] {
    if (const auto problem = name_capture(*capture, *options)) {
      status = fail("send", *problem, kUsage);
      return;
    }
    auto choices = choose(*options);
    status = choices ? Send(*options, *std::move(choices)).run() : fail("send", choices.error(), kUsage);
  });
}

}  // namespace parshall::cli
