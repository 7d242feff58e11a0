// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace parshall::tester {

/// Trial to run: RFC 9971, section 4.5.3.
struct TrialInput {
  double load_pps = 0;
  double duration_s = 0;
  friend bool operator==(const TrialInput&, const TrialInput&) = default;
};

inline constexpr std::uint64_t kLateNs = 1'000'000;  ///< a frame is late after this; shorter bursts are normal

/// Effects of the testing host on a trial, independent of the device.
struct HostTrouble {
  std::uint64_t late = 0;       ///< frames sent more than kLateNs after they were due
  std::uint64_t latest_ns = 0;  ///< largest lateness of any frame
  std::uint64_t missed = 0;     ///< frames that came back but found no room in the receiving device
  std::uint64_t stolen_ns = 0;  ///< time that other guests took from the most affected processor
};

/// Frames that came in a trial but do not belong to it.
struct Strays {
  std::uint64_t contradictory = 0;  ///< frames of another trial or test
  std::uint64_t corrupted = 0;
  std::uint64_t foreign = 0;  ///< other traffic
};

/// A trial that was run: its input and its results. Its effective duration is its duration.
struct TrialOutcome {
  double load_pps = 0;
  double duration_s = 0;
  std::uint64_t offered = 0;   ///< frames that should have been sent
  std::uint64_t sent = 0;      ///< frames sent, perhaps more than offered
  std::uint64_t received = 0;  ///< frames received, each counted once
  std::uint64_t unsent = 0;    ///< offered frames not sent in time, or dropped by the sending device

  HostTrouble host = {};
  std::optional<Strays> strays = {};       ///< unset: not known, as for a monitor under test
  std::size_t runs = 1;                    ///< number of runs; all but this one were discarded because of the host
  std::optional<std::uint64_t> seed = {};  ///< seed of the device's random decisions, if it makes any

  TrialInput input() const noexcept { return {.load_pps = load_pps, .duration_s = duration_s}; }

  /// Returns the loss relative to the frames that should have been sent, or that were sent if more. Unsent frames count
  /// as lost, so that a slow sender does not flatter the device. Source: RFC 9971, sections 4.5.6 and 4.9.1.
  double loss_ratio() const noexcept {
    const std::uint64_t expected = std::max(offered, sent);
    if (received >= expected) return 0;
    return static_cast<double>(expected - received) / static_cast<double>(expected);
  }

  /// Returns how many of the lost frames may be the host's: unsent and missed frames, late frames, and frames that were
  /// due in stolen time. Frames sent in a burst after a pause cannot lose more than that, even with a device that has
  /// no room for any of them: all others arrive as if there had been no pause.
  double hosts_share() const noexcept {
    return static_cast<double>(unsent + host.missed + host.late) +
           load_pps * static_cast<double>(host.stolen_ns) * 1e-9;
  }

  /// Returns the loss that the host cannot have caused.
  double least_loss_ratio() const noexcept {
    const auto expected = static_cast<double>(std::max(offered, sent));
    return expected == 0 ? 0 : std::max(0.0, loss_ratio() - hosts_share() / expected);
  }

  /// Returns true if the host's share decides whether the loss exceeds the goal.
  bool is_doubtful(double goal_ratio) const noexcept {
    return loss_ratio() > goal_ratio && least_loss_ratio() <= goal_ratio;
  }
};

/// Returns how many frames are due in a trial. Not all frames that are late are still taken from a source.
inline std::uint64_t due_frames(const TrialInput& input) noexcept {
  return static_cast<std::uint64_t>(input.load_pps * input.duration_s);
}

/// Returns how long late frames of a trial are still sent after its end. It is less than half of the usual width
/// between bounds (0.5 %), since the load would otherwise change; for trials below a second it is 2 ms.
inline std::uint64_t grace_ns(const TrialInput& input) noexcept {
  constexpr double kLeastNs = 2e6, kParts = 500;
  return static_cast<std::uint64_t>(std::max(kLeastNs, input.duration_s * 1e9 / kParts));
}

}  // namespace parshall::tester
