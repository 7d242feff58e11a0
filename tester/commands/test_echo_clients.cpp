// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/parse.hpp"
#include "cli/command_line.hpp"
#include "cli/messages.hpp"
#include "cli/signals.hpp"
#include "cli/whole_file.hpp"
#include "tester/commands/echo_report.hpp"
#include "tester/commands/test.hpp"

namespace parshall::cli {
namespace {

constexpr const char* kEchoClients = "test echo-clients";

/// Options as typed.
struct EchoClientsOptions {
  std::string connect, message = "512", duration, count, timeout = "5s", close = "fin";
  std::uint32_t clients = 1, first_port = 1024, ports = 0;
  std::uint64_t seed = 1;
  std::string format = "text", output = "-";
};

constexpr std::uint32_t kMostClients = 65535;

Result<tester::EchoClientsPlan> choose(const EchoClientsOptions& options) {
  const auto server = tester::Endpoint::parse(options.connect);
  if (!server) return Error{"--connect " + server.error().message};
  const auto message = parse_count(options.message);
  if (!message || *message == 0 || *message > tester::EchoClients::kMostBytes)
    return Error{fmt::format("--message {}: give a number of bytes from 1 to 1Mi", options.message)};
  const auto timeout_ns = parse_duration_ns(options.timeout);
  if (!timeout_ns || *timeout_ns == 0) return Error{"--timeout " + options.timeout + ": give a time such as 5s"};
  const bool is_counted = !options.count.empty();
  const auto connections = parse_count(is_counted ? options.count : "0");
  if (!connections || (is_counted && *connections == 0))
    return Error{"--count " + options.count + ": give a number of connections such as 10000 or 1M"};
  const auto duration_ns = parse_duration_ns(!options.duration.empty() ? options.duration : is_counted ? "0" : "10s");
  if (!duration_ns || (!is_counted && *duration_ns == 0))
    return Error{"--duration " + options.duration + ": give a time such as 10s"};
  return tester::EchoClientsPlan{
      .server = *server,
      .clients = options.clients,
      .message_bytes = *message,
      .connections = *connections,
      .duration_ns = *duration_ns,
      .timeout_ns = *timeout_ns,
      .first_port = static_cast<std::uint16_t>(options.first_port),
      .ports = options.ports != 0 ? options.ports : 65536 - options.first_port,
      .close = options.close == "rst" ? tester::EchoClose::rst : tester::EchoClose::fin,
      .seed = options.seed,
  };
}

/// Returns why nothing finished, for users who do not read the report.
Error nothing_finished(const tester::EchoClientsPlan& plan, const tester::EchoClientsCounts& counts) {
  const auto most = std::ranges::max_element(counts.failed_by);
  if (*most == 0) return Error{fmt::format("no connection to {} finished within that time", plan.server.text())};
  const auto cause = static_cast<tester::EchoFailure>(most - counts.failed_by.begin());
  std::string why = tester::kEchoFailures[static_cast<std::size_t>(cause)];
  if (cause == tester::EchoFailure::other) why = std::strerror(counts.last_error);
  return Error{fmt::format("no connection to {} finished: {} failed, most of them: {}{}", plan.server.text(),
                           counts.failed(), why,
                           cause == tester::EchoFailure::refused ? " (start `parshall test echo-server` there)" : "")};
}

int run(const EchoClientsOptions& options) {
  const auto plan = choose(options);
  if (!plan) return fail(kEchoClients, plan.error(), kUsage);
  if (const auto error = prepare_for(options.output)) return fail(kEchoClients, *error, kFailed);
  auto clients = tester::EchoClients::open(*plan);
  if (!clients) return fail(kEchoClients, clients.error(), kUsage);
  catch_signals();
  while (!stop_asked() && !clients->finished()) clients->step();
  clients->abandon();
  const EchoClientsSummary summary{.command = command_line(),
                                   .plan = *plan,
                                   .counts = &clients->counts(),
                                   .elapsed_ns = clients->elapsed_ns(),
                                   .beginning_ns = clients->beginning_ns()};
  if (const auto error = write_whole(
          options.output, options.format == "json" ? echo_clients_json(summary) : echo_clients_text(summary)))
    return fail(kEchoClients, *error, kFailed);
  if (clients->counts().finished == 0 && !stop_asked())
    return fail(kEchoClients, nothing_finished(*plan, clients->counts()), kFailed);
  if (clients->gave_up())
    return fail(kEchoClients, Error{fmt::format("{} no longer answers: test ended", plan->server.text())}, kFailed);
  return kDone;
}

}  // namespace

void add_test_echo_clients(Command test, int& status) {
  Command command = test.add_subcommand(
      "echo-clients", "Make many short TCP connections: connect, send a message, wait for its echo, close, repeat");
  auto options = std::make_shared<EchoClientsOptions>();
  EchoClientsOptions& o = *options;
  command->add_option("--connect", o.connect, "ADDRESS:PORT or [IPV6]:PORT of a server")
      ->required()
      ->group("Connections");
  command->add_option("--clients", o.clients, "Number of connections at the same time")
      ->check(in_range(1u, kMostClients))
      ->capture_default_str()
      ->group("Connections");
  command->add_option("--message", o.message, "Size of a message in bytes")
      ->capture_default_str()
      ->group("Connections");
  command
      ->add_option(
          "--duration", o.duration,
          "Begin no connection after this time, over which the rate is computed (default: 10s, without --count)")
      ->group("Connections");
  command->add_option("--count", o.count, "Total number of connections")->group("Connections");
  command
      ->add_option("--timeout", o.timeout,
                   "Timeout of a connection; the test ends if no connection finishes for three timeouts")
      ->capture_default_str()
      ->group("Connections");
  command
      ->add_option("--close", o.close,
                   "fin: close as programs do; the port stays in TIME_WAIT for a minute, or at most a second if "
                   "net.ipv4.tcp_tw_reuse is 1 (on loopback: or 2). rst: close at once with a reset")
      ->check(among({"fin", "rst"}))
      ->capture_default_str()
      ->group("Connections");
  command->add_option("--first-port", o.first_port, "First source port")
      ->check(in_range(1u, 65535u))
      ->capture_default_str()
      ->group("Ports");
  command
      ->add_option("--ports", o.ports,
                   "Number of source ports, used in random order, each once per round (default: up to 65535)")
      ->check(in_range(1u, 65535u))
      ->group("Ports");
  command->add_option("--seed", o.seed, "Seed of that order")->capture_default_str()->group("Ports");
  command->add_option("--format", o.format, "Format of the report")
      ->check(among({"text", "json"}))
      ->capture_default_str()
      ->group("Report");
  command->add_option("-o,--output", o.output, "File for the report, - for standard output")
      ->capture_default_str()
      ->group("Report");
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace parshall::cli
