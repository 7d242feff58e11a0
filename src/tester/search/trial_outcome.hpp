// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace parshall::tester {

/// Which trial to run: RFC 9971, section 4.5.3.
struct TrialInput {
  double load_pps = 0;
  double duration_s = 0;
  friend bool operator==(const TrialInput&, const TrialInput&) = default;
};

inline constexpr std::uint64_t kLateNs = 1'000'000;  ///< after a frame was due: bursts that make up for less are meant

/// What the host that tests did to a trial, whatever the device did.
struct HostTrouble {
  std::uint64_t late = 0;       ///< frames that left more than kLateNs after they were due
  std::uint64_t latest_ns = 0;  ///< of all
  std::uint64_t missed = 0;     ///< frames that came back, for which the receiving device had no room
  std::uint64_t stolen_ns = 0;  ///< of each processor on average, for other guests of the host
};

/// What came in a trial beside its own frames.
struct Strays {
  std::uint64_t contradictory = 0;  ///< frames of another trial or test
  std::uint64_t corrupted = 0;
  std::uint64_t foreign = 0;  ///< other traffic
};

/// A trial that was run, as it was asked for, and what came of it. Its effective duration is its duration.
struct TrialOutcome {
  double load_pps = 0;
  double duration_s = 0;
  std::uint64_t offered = 0;   ///< frames that should have been sent
  std::uint64_t sent = 0;      ///< of them, or more
  std::uint64_t received = 0;  ///< each counted once
  std::uint64_t unsent = 0;  ///< of those offered: the generator did not send them in time, or its device dropped them

  HostTrouble host = {};
  std::optional<Strays> strays = {};       ///< nothing: what came is told by nobody, as of a monitor under test
  std::size_t runs = 1;                    ///< that it took: all but this one were discarded, for what the host did
  std::optional<std::uint64_t> seed = {};  ///< of what the device did by chance, where it draws

  TrialInput input() const noexcept { return {.load_pps = load_pps, .duration_s = duration_s}; }

  /// Of all that should have been sent, and of all that was: what was not sent is lost, so that a sender that is too
  /// slow is not taken for a device that is fast enough. Source: RFC 9971, sections 4.5.6 and 4.9.1.
  double loss_ratio() const noexcept {
    const std::uint64_t expected = std::max(offered, sent);
    if (received >= expected) return 0;
    return static_cast<double>(expected - received) / static_cast<double>(expected);
  }

  /// How many of the lost frames may be the host's doing: what it did not send or did not take, and as many as left
  /// late, or were due in time that was stolen. Frames that make up for a pause lose no more than that even with
  /// a device that has room for none of them: all others come as if there had been no pause.
  double hosts_share() const noexcept {
    return static_cast<double>(unsent + host.missed + host.late) +
           load_pps * static_cast<double>(host.stolen_ns) * 1e-9;
  }

  /// What was lost whatever the host did.
  double least_loss_ratio() const noexcept {
    const auto expected = static_cast<double>(std::max(offered, sent));
    return expected == 0 ? 0 : std::max(0.0, loss_ratio() - hosts_share() / expected);
  }

  /// Whether it is the host that decides if so much is lost.
  bool is_doubtful(double goal_ratio) const noexcept {
    return loss_ratio() > goal_ratio && least_loss_ratio() <= goal_ratio;
  }
};

/// How many frames are due in a trial. Those that are sent too late are not all taken from a source.
inline std::uint64_t due_frames(const TrialInput& input) noexcept {
  return static_cast<std::uint64_t>(input.load_pps * input.duration_s);
}

/// For how long behind its end frames of a trial still go that are late: less than half of the usual width between
/// bounds (0.5 %), for the load would be another; of trials below a second 2 ms.
inline std::uint64_t grace_ns(const TrialInput& input) noexcept {
  constexpr double kLeastNs = 2e6, kParts = 500;
  return static_cast<std::uint64_t>(std::max(kLeastNs, input.duration_s * 1e9 / kParts));
}

}  // namespace parshall::tester
