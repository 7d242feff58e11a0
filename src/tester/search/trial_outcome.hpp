// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>

namespace parshall::tester {

/// Which trial to run: RFC 9971, section 4.5.3.
struct TrialInput {
  double load_pps = 0;
  double duration_s = 0;
  friend bool operator==(const TrialInput&, const TrialInput&) = default;
};

/// A trial that was run, as it was asked for, and what came of it. Its effective duration is its duration.
struct TrialOutcome {
  double load_pps = 0;
  double duration_s = 0;
  std::uint64_t offered = 0;   ///< frames that should have been sent
  std::uint64_t sent = 0;      ///< of them, or more
  std::uint64_t received = 0;  ///< each counted once
  std::uint64_t unsent = 0;  ///< of those offered: the generator did not send them in time, or its device dropped them

  std::optional<std::uint64_t> seed = {};  ///< of what the device did by chance, where it draws

  TrialInput input() const noexcept { return {.load_pps = load_pps, .duration_s = duration_s}; }

  /// Of all that should have been sent, and of all that was: what was not sent is lost, so that a sender that is too
  /// slow is not taken for a device that is fast enough. Source: RFC 9971, sections 4.5.6 and 4.9.1.
  double loss_ratio() const noexcept {
    const std::uint64_t expected = std::max(offered, sent);
    if (received >= expected) return 0;
    return static_cast<double>(expected - received) / static_cast<double>(expected);
  }
};

/// How many frames are due in a trial. Those that are sent too late are not all taken from a source.
inline std::uint64_t due_frames(const TrialInput& input) noexcept {
  return static_cast<std::uint64_t>(input.load_pps * input.duration_s);
}

}  // namespace parshall::tester
