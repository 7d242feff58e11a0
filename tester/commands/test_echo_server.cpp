// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/parse.hpp"
#include "cli/command_line.hpp"
#include "cli/messages.hpp"
#include "cli/signals.hpp"
#include "cli/whole_file.hpp"
#include "tester/closed_loop/steady_time.hpp"
#include "tester/commands/echo_report.hpp"
#include "tester/commands/test.hpp"

namespace parshall::cli {
namespace {

constexpr const char* kEchoServer = "test echo-server";

/// Options as typed.
struct EchoServerOptions {
  std::string listen = "0.0.0.0:7777", timeout = "30s", duration = "0", count = "0";
  std::string format = "text", output = "-";
  bool quiet = false;
};

struct EchoServerChoices {
  tester::EchoServerPlan plan;
  std::uint64_t duration_ns = 0, connections = 0;
};

Result<EchoServerChoices> choose(const EchoServerOptions& options) {
  const auto listen = tester::Endpoint::parse(options.listen);
  if (!listen) return Error{"--listen " + listen.error().message};
  const auto timeout_ns = parse_duration_ns(options.timeout), duration_ns = parse_duration_ns(options.duration);
  if (!timeout_ns || *timeout_ns == 0) return Error{"--timeout " + options.timeout + ": give a time such as 30s"};
  if (!duration_ns) return Error{"--duration " + options.duration + ": give a time such as 10s"};
  const auto connections = parse_count(options.count);
  if (!connections) return Error{"--count " + options.count + ": give a number such as 10000 or 1M"};
  return EchoServerChoices{
      .plan = {.listen = *listen, .timeout_ns = *timeout_ns}, .duration_ns = *duration_ns, .connections = *connections};
}

int run(const EchoServerOptions& options) {
  const auto choices = choose(options);
  if (!choices) return fail(kEchoServer, choices.error(), kUsage);
  if (const auto error = prepare_for(options.output)) return fail(kEchoServer, *error, kFailed);
  auto server = tester::EchoServer::open(choices->plan);
  if (!server) return fail(kEchoServer, server.error(), kFailed);
  catch_signals();
  if (!options.quiet) say(kEchoServer, "listening on " + server->endpoint().text());
  const std::uint64_t begin_ns = tester::steady_ns();
  const auto elapsed_ns = [&] { return tester::steady_ns() - begin_ns; };
  const auto has_all = [&] { return choices->connections != 0 && server->counts().ended() >= choices->connections; };
  while (!stop_asked() && (choices->duration_ns == 0 || elapsed_ns() < choices->duration_ns) && !has_all())
    server->step();
  // What came before the end is taken; clients may go on sending.
  constexpr int kMostLastSteps = 100;
  for (int steps = 0; steps < kMostLastSteps && !has_all() && server->step(); ++steps) {
  }
  const EchoServerSummary summary{.command = command_line(),
                                  .endpoint = server->endpoint().text(),
                                  .counts = server->counts(),
                                  .elapsed_ns = elapsed_ns()};
  if (const auto error =
          write_whole(options.output, options.format == "json" ? echo_server_json(summary) : echo_server_text(summary)))
    return fail(kEchoServer, *error, kFailed);
  return kDone;
}

}  // namespace

void add_test_echo_server(Command test, int& status) {
  Command command = test.add_subcommand(
      "echo-server", "Return all data on every TCP connection, until Ctrl-C: the server for echo-clients");
  auto options = std::make_shared<EchoServerOptions>();
  EchoServerOptions& o = *options;
  command->add_option("--listen", o.listen, "ADDRESS:PORT or [IPV6]:PORT; port 0: any free port")
      ->capture_default_str();
  command->add_option("--timeout", o.timeout, "Close a connection after this time without data")->capture_default_str();
  command->add_option("--duration", o.duration, "Stop after this time (default: at Ctrl-C)");
  command->add_option("--count", o.count, "Stop after this number of connections have ended");
  command->add_option("--format", o.format, "Format of the report")
      ->check(among({"text", "json"}))
      ->capture_default_str();
  command->add_option("-o,--output", o.output, "File for the report, - for standard output")->capture_default_str();
  command->add_flag("-q,--quiet", o.quiet, "Do not print the address");
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace parshall::cli
