// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

#include "base/result.hpp"
#include "generate/replay_writer.hpp"
#include "generate/sender.hpp"
#include "generate/traffic.hpp"
#include "parshall/send_options.hpp"

namespace parshall {

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

}  // namespace parshall
