// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/realtime.hpp"
#include "generate/sender.hpp"
#include "generate/traffic.hpp"
#include "pipeline/capture/source.hpp"
#include "tester/receiver.hpp"
#include "tester/test_report.hpp"
#include "tester/trial_id.hpp"

namespace parshall::tester {

/// Both ends of a device under test, as it lies between them.
struct TrialEnds {
  FrameSink& sink;
  PacketSource& source;
};

struct TrialOptions {
  SendPlan send;                            ///< in real time
  std::uint64_t settle_ns = 2'000'000'000;  ///< for which frames are waited for, after the last was sent: RFC 2544, 23
  BookOptions book;
  std::uint32_t id = draw_trial_id();  ///< that tells its frames from those of any other trial
  /// Frames of this id that were meant to be sent no earlier are of it, since 1970: trials may share both.
  std::uint64_t begin_ns = realtime_ns();
};

/// What was sent, and what of it came back.
struct TrialResult {
  SendCounts sending;
  std::uint64_t sending_ns = 0;                       ///< from the first frame to the last
  std::shared_ptr<const ValueHistogram> lateness_ns;  ///< of frames handed over
  std::vector<SentFlow> sent;                         ///< each stream
  Counters device;                                    ///< of the receiving device, during the trial
  std::unique_ptr<Receiver> receiver;
  std::uint64_t stolen_ns = 0;  ///< of each processor on average, by other guests of the host, while frames were sent
  std::uint64_t began_ns = 0;   ///< since 1970: no frame was due earlier
  bool interrupted = false;     ///< somebody ended the sending
  std::optional<Error> damage;  ///< of a device
};

/// Sends a trace, whose frames have trailers, through a device, and accounts for what comes back: one trial of RFC
/// 2544. The caller's thread sends; another receives meanwhile, and waits for nothing else.
///
/// `stop`: asked between frames; then no more are sent, and those under way are waited for.
TrialResult run_trial(std::shared_ptr<const Trace> trace, std::uint32_t streams, TrialEnds ends,
                      const TrialOptions& options, const std::function<bool()>& stop);

}  // namespace parshall::tester
