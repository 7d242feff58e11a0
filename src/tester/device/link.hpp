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

/// What came of frames that were offered to a lossy link: offered = entered + missed, as far as its device tells what
/// it missed; entered = the impairment's offered + too_long; and of the copies that left it, `unsent` could not be
/// sent.
struct LinkCounts {
  std::uint64_t entered = 0;
  std::optional<std::uint64_t> missed;  ///< since the device was opened, without room in it; nothing: it does not tell
  std::uint64_t too_long = 0;
  std::uint64_t sent = 0;
  std::uint64_t unsent = 0;
  std::uint64_t still_waiting = 0;  ///< when it ended
  ImpairmentCounts impairment;
};

/// Seeds for a link that is at work, handed to its thread by another.
class LinkSeeds {
 public:
  /// Returns once the link has it, so that what enters later is drawn by it; false where `stop` came first.
  bool hand_over(std::uint64_t seed, const std::function<bool()>& stop);

  /// By the link, between frames: the seed that came since, if any.
  std::optional<std::uint64_t> take() noexcept;

 private:
  std::atomic<std::uint64_t> seed_{0};
  std::atomic<bool> waits_{false};
};

/// Passes what comes by `from` on to `to`, as a lossy link would, until `stop` says so.
///
/// `seeds`: asked for a new one between frames.
/// Error: frames go on as soon as their time has come and this thread sees it: it naps for some 20 us.
LinkCounts run_link(PacketSource& from, FrameSink& to, const ImpairmentSettings& settings, LinkSeeds& seeds,
                    const std::function<bool()>& stop);

}  // namespace parshall::tester
