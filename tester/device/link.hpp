// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>

#include "pipeline/capture/frame_sink.hpp"
#include "pipeline/capture/source.hpp"
#include "tester/impairment.hpp"

namespace parshall::tester {

/// Counts of frames offered to a lossy link: offered = entered + missed, if its device reports what it missed; entered
/// = the impairment's offered + too_long. `unsent` counts copies that left the link but could not be sent.
struct LinkCounts {
  std::uint64_t entered = 0;
  std::optional<std::uint64_t> missed;  ///< dropped by the full device since it was opened; unset: not reported
  std::uint64_t too_long = 0;
  std::uint64_t sent = 0;
  std::uint64_t unsent = 0;
  std::uint64_t still_waiting = 0;  ///< at the end
  ImpairmentCounts impairment;
};

/// Passes seeds to the thread of a running link.
class LinkSeeds {
 public:
  /// Returns true once the link uses the seed for all later frames; false if `stop` returned true first.
  bool hand_over(std::uint64_t seed, const std::function<bool()>& stop);

  /// Returns a new seed, if there is one; called by the link between frames.
  std::optional<std::uint64_t> take() noexcept;

 private:
  std::atomic<std::uint64_t> seed_{0};
  std::atomic<bool> waits_{false};
};

/// Forwards frames from `from` to `to` like a lossy link, until `stop` returns true.
///
/// `seeds`: checked for a new one between frames.
/// Error:  a frame is sent when this thread notices that it is due; the thread naps for about 20 us.
LinkCounts run_link(PacketSource& from, FrameSink& to, const ImpairmentSettings& settings, LinkSeeds& seeds,
                    const std::function<bool()>& stop);

}  // namespace parshall::tester
