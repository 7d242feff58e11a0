// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

namespace parshall {

/// What was lost before any flow was known, and whether flows are seen in part, since a run began.
struct Losses {
  std::uint64_t packets = 0;          ///< by the device, and between two threads
  std::uint64_t partial_changes = 0;  ///< how often a worker began or ceased to shed flows or to keep new ones out
  bool partial = false;               ///< any of them does now
  bool untold = false;                ///< a device that may lose packets does not say how many

  friend bool operator==(const Losses&, const Losses&) = default;
};

/// When packets were lost, for who asks what may be missing in a record: readings, each between two moments of packet
/// time.
///
/// Error:  missed() is never too small, as long as the source's clock does not go back: it counts from the last reading
///         that is known to be before the record's first packet (the beginning of the run, if there is none) to the
///         first that is known to be after its last one (now, if there is none). Losses of all flows are counted, since
///         nobody knows whose packets they were: it may be too large by all of them. `exact` is false wherever anything
///         may be missing, and may be false where nothing is.
/// Memory: kMost readings, where losses go on and on. Full: every other one is forgotten, which only widens the bound.
/// Threads: any.
class LossLog {
 public:
  static constexpr std::size_t kMost = 1024;

  struct Missed {
    bool exact = true;
    std::optional<std::uint64_t> packets_at_most = 0;  ///< absent: the device does not say
  };

  /// `read`: what is lost by now, from any thread, until stop(). `merges`: flows may be counted as one. `partial_late`:
  /// packets before a reading may be worked on after it, so that only then it shows whether their flows are seen in
  /// part.
  void follow(std::function<Losses()> read, bool merges, bool partial_late = false);
  /// What is lost by then is all there is.
  void stop();

  /// What had been lost was at least as much for all packets from `since_ns` on, and at most for all up to `until_ns`.
  /// In the order of the readings.
  void note(const Losses& losses, std::uint64_t since_ns, std::uint64_t until_ns);

  /// The input broke: what is open in the end may lack anything.
  void note_damage();

  /// Whether that is so.
  bool is_damaged() const;

  Missed missed(std::uint64_t first_ns, std::uint64_t last_ns) const;

 private:
  struct Reading {
    Losses losses;
    std::uint64_t since_ns, until_ns;
  };

  mutable std::mutex mutex_;
  std::vector<Reading> readings_;  ///< of losses that differ from those before
  std::function<Losses()> read_;
  Losses last_;  ///< when it was stopped
  bool merges_ = false, partial_late_ = false, damaged_ = false;
};

}  // namespace parshall
