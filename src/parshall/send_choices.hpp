// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

#include "base/result.hpp"
#include "parshall/send_options.hpp"
#include "traffic/replay_writer.hpp"
#include "traffic/sender.hpp"
#include "traffic/traffic.hpp"

namespace parshall {

/// Parsed options of `parshall send`. Errors are the user's: exit status kUsage.
struct SendChoices {
  SendPlan plan;          ///< its rate may be a fraction of the line rate
  bool own_rate = false;  ///< true: no rate was given
  TrafficSpec traffic;    ///< built-in traffic, if that is sent
  ReplayChanges changes;  ///< changes to a replayed capture, if that is sent
  double line_bps = 0;    ///< 0: as the device reports
  std::uint64_t wait_ns = 0;
  std::size_t top = 0;
  bool ends = true;  ///< by itself
};
Result<SendChoices> choose(const SendOptions& options);

/// Converts the rates of a plan to those of a line of this speed, if it is known. A ramp begins in the same unit.
/// Errors are the user's.
Result<SendPlan> on_line(SendPlan plan, std::optional<double> line_bps);

}  // namespace parshall
