// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "tester/closed_loop/echo_clients.hpp"
#include "tester/closed_loop/echo_server.hpp"

namespace parshall::cli {

/// Results of `parshall test echo-clients`, for a report.
struct EchoClientsSummary {
  std::string command;
  tester::EchoClientsPlan plan;
  const tester::EchoClientsCounts* counts = nullptr;
  std::uint64_t elapsed_ns = 0, beginning_ns = 0;
};
std::string echo_clients_text(const EchoClientsSummary& summary);
std::string echo_clients_json(const EchoClientsSummary& summary);

/// Results of `parshall test echo-server`, for a report.
struct EchoServerSummary {
  std::string command, endpoint;
  tester::EchoServerCounts counts;
  std::uint64_t elapsed_ns = 0;
};
std::string echo_server_text(const EchoServerSummary& summary);
std::string echo_server_json(const EchoServerSummary& summary);

}  // namespace parshall::cli
