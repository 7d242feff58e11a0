// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>

#include "pipeline/capture/frame_sink.hpp"
#include "pipeline/capture/source.hpp"
#include "tester/impairment.hpp"

namespace parshall::tester {

/// What came of frames that entered a lossy link: entered = the impairment's offered + too_long; and of the copies that
/// left it, `unsent` could not be sent.
struct LinkCounts {
  std::uint64_t entered = 0;
  std::uint64_t too_long = 0;
  std::uint64_t sent = 0;
  std::uint64_t unsent = 0;
  std::uint64_t still_waiting = 0;  ///< when it ended
  ImpairmentCounts impairment;
};

/// Passes what comes by `from` on to `to`, as a lossy link would, until `stop` says so.
///
/// Error: frames go on as soon as their time has come and this thread sees it: it naps for some 20 us.
LinkCounts run_link(PacketSource& from, FrameSink& to, const ImpairmentSettings& settings,
                    const std::function<bool()>& stop);

}  // namespace parshall::tester
