// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "generate/sender.hpp"

namespace parshall::cli {

/// What came of sending, for a report.
struct SendSummary {
  std::string command, source, destination;
  std::string asked;
  SendTime time = SendTime::real;
  SendCounts counts;
  std::uint64_t elapsed_ns = 0;
  const ValueHistogram* lateness_ns = nullptr;
  std::uint64_t dropped = 0;  ///< by the device, after it took them

  /// Frames that went out for good.
  std::uint64_t sent() const noexcept { return counts.sent - dropped; }
  /// From the first frame to the last; nothing of less than two.
  std::optional<double> rate_pps() const noexcept;
  /// With what a line needs around each frame.
  std::optional<double> line_bps() const noexcept;
};

std::string send_summary_text(const SendSummary& summary);
std::string send_summary_json(const SendSummary& summary);

}  // namespace parshall::cli
