// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "traffic/sender.hpp"

namespace parshall::cli {

/// Results of sending, for a report.
struct SendSummary {
  std::string command, source, destination;
  std::string asked;
  SendTime time = SendTime::real;
  SendCounts counts;
  std::uint64_t elapsed_ns = 0;
  const ValueHistogram* lateness_ns = nullptr;
  std::uint64_t dropped = 0;  ///< dropped by the device after it accepted them

  /// Returns the frames that really went out.
  std::uint64_t sent() const noexcept { return counts.sent - dropped; }
  /// Returns the rate from the first frame to the last; nullopt for fewer than two.
  std::optional<double> rate_pps() const noexcept;
  /// Returns the line rate, including the overhead around each frame.
  std::optional<double> line_bps() const noexcept;
};

std::string send_summary_text(const SendSummary& summary);
std::string send_summary_json(const SendSummary& summary);

}  // namespace parshall::cli
