// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/realtime.hpp"
#include "pipeline/capture/source.hpp"
#include "tester/receiver.hpp"
#include "tester/test_report.hpp"
#include "tester/trial_id.hpp"
#include "traffic/sender.hpp"
#include "traffic/traffic.hpp"

namespace parshall::tester {

/// Both ends of a device under test.
struct TrialEnds {
  FrameSink& sink;
  PacketSource& source;
};

struct TrialOptions {
  SendPlan send;                            ///< in real time
  std::uint64_t settle_ns = 2'000'000'000;  ///< time to wait for frames after the last one sent: RFC 2544, 23
  BookOptions book;
  std::uint32_t id = draw_trial_id();  ///< distinguishes its frames from those of other trials
  /// Frames with this id belong to the trial if they were due at or after this time, since 1970: trials may share an
  /// id.
  std::uint64_t begin_ns = realtime_ns();
};

/// Counts of what was sent, and what came back.
struct TrialResult {
  SendCounts sending;
  std::uint64_t sending_ns = 0;                       ///< time from the first frame to the last
  std::shared_ptr<const ValueHistogram> lateness_ns;  ///< lateness of frames handed over
  std::vector<SentFlow> sent;                         ///< by stream
  Counters device;                                    ///< counters of the receiving device during the trial
  std::unique_ptr<Receiver> receiver;
  std::uint64_t stolen_ns = 0;  ///< time that other guests took from the most affected processor
  std::uint64_t began_ns = 0;   ///< since 1970: no frame was due earlier
  bool interrupted = false;     ///< true: the user ended the sending
  std::optional<Error> damage;  ///< error of a device
};

/// Sends a trace, whose frames have trailers, through a device, and accounts for what comes back: one trial of RFC
/// 2544. The calling thread sends; another one receives at the same time, without waiting for anything else.
///
/// `stop`: called between frames; if it returns true, sending ends, and frames on their way are waited for.
TrialResult run_trial(std::shared_ptr<const Trace> trace, std::uint32_t streams, TrialEnds ends,
                      const TrialOptions& options, const std::function<bool()>& stop);

}  // namespace parshall::tester
