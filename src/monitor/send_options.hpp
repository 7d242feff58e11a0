// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/options.hpp"
#include "generate/replay_writer.hpp"
#include "generate/sender.hpp"
#include "generate/traffic.hpp"

namespace parshall::cli {

/// `parshall send` as typed.
struct SendOptions {
  std::string interface, file, capture, traffic;
  bool nowhere = false;
  std::string via = "af_packet", eal;

  std::string rate, ramp, line_rate;
  std::uint32_t burst = 1;
  std::string count = "0", duration = "0", wait = "10s";

  std::uint64_t loops = 1;
  bool fresh_flows = false, fix_checksums = false;
  std::uint32_t cap = 0, pad = 0;
  std::string source_mac, destination_mac;

  bool per_flow = false, prompt = false, quiet = false;
  std::string format = "text", output = "-";
  std::int64_t top = -1;
  std::int64_t core = -1;
  std::vector<std::string> words;  ///< of the whole command
};

void declare(Command command, SendOptions& options);

/// What the words mean. Errors are the user's: exit status kUsage.
struct SendChoices {
  SendPlan plan;          ///< its rate may be a share of the line
  bool own_rate = false;  ///< none was given
  TrafficSpec traffic;    ///< where it is built in
  ReplayChanges changes;  ///< else
  double line_bps = 0;    ///< 0: as the device says
  std::uint64_t wait_ns = 0;
  std::size_t top = 0;
};
Result<SendChoices> choose(const SendOptions& options);

/// Of a line of that speed, if it is known. A ramp begins in the same unit. Errors are the user's.
Result<SendPlan> on_line(SendPlan plan, std::optional<double> line_bps);

}  // namespace parshall::cli
