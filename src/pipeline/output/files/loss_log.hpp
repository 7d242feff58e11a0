// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

namespace parshall {

/// Losses since a run began that are not known by flow, and whether flows are seen only in part.
struct Losses {
  std::uint64_t packets = 0;          ///< lost by the device, and between two threads
  std::uint64_t partial_changes = 0;  ///< times that a worker began or ended keeping flows out
  bool partial = false;               ///< true while any worker does
  bool untold = false;                ///< true if a device that may lose packets does not report how many

  friend bool operator==(const Losses&, const Losses&) = default;
};

/// Log of when packets were lost, to find out what a record may lack. Each reading is between two moments of packet
/// time.
///
/// Error:  missed() is never too small, as long as the source's clock does not go back. It counts from the last reading
///         known to be before the record's first packet (or the run's beginning) to the first known to be after its
///         last packet (or now). It counts losses of all flows, as it is unknown whose packets they were, so it may be
///         too large by all of them. `exact` is false if anything may be missing, and may be false if nothing is.
/// Memory: kMost readings, if losses never end.
/// Full:   every other reading is dropped, which only widens the bound.
/// Threads: any.
class LossLog {
 public:
  static constexpr std::size_t kMost = 1024;

  struct Missed {
    bool exact = true;
    std::optional<std::uint64_t> packets_at_most = 0;  ///< absent if the device does not report losses
  };

  /// Starts to follow losses. `read` returns the losses so far, in any thread, until stop(). `merges` says that flows
  /// may be counted as one. With `partial_late`, packets before a reading may be processed after it, so only then is it
  /// known whether their flows are seen in part.
  void follow(std::function<Losses()> read, bool merges, bool partial_late = false);
  /// Ends the log with the losses so far.
  void stop();

  /// Adds a reading, in order: the losses were at least these for all packets from `since_ns` on, and at most these for
  /// all up to `until_ns`.
  void note(const Losses& losses, std::uint64_t since_ns, std::uint64_t until_ns);

  /// Notes that the input broke: records open at the end may lack anything.
  void note_damage();

  /// Returns whether the input broke.
  bool is_damaged() const;

  Missed missed(std::uint64_t first_ns, std::uint64_t last_ns) const;

 private:
  struct Reading {
    Losses losses;
    std::uint64_t since_ns, until_ns;
  };

  mutable std::mutex mutex_;
  std::vector<Reading> readings_;  ///< readings at which the losses changed
  std::function<Losses()> read_;
  Losses last_;  ///< losses when stop() was called
  bool merges_ = false, partial_late_ = false, damaged_ = false;
};

}  // namespace parshall
