// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "generate/sender.hpp"
#include "generate/traffic.hpp"
#include "pipeline/capture/source.hpp"
#include "tester/flow_book.hpp"

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
};

/// What came in, frame by frame: received = ours + corrupted + contradictory + foreign + cut.
struct ReceivedFrames {
  std::uint64_t received = 0;
  std::uint64_t ours = 0;
  std::uint64_t corrupted = 0;
  std::uint64_t contradictory = 0;  ///< of another test, or late from the one before
  std::uint64_t foreign = 0;
  std::uint64_t cut = 0;
};

/// What was sent, and what of it came back.
struct TrialResult {
  SendCounts sending;
  std::uint64_t sending_ns = 0;                       ///< from the first frame to the last
  std::shared_ptr<const ValueHistogram> lateness_ns;  ///< of frames handed over
  std::vector<std::uint64_t> sent;                    ///< of each stream
  ReceivedFrames receiving;
  DeviceCounters device;  ///< what the receiving device says it did not deliver, during the trial
  std::unique_ptr<FlowBook> book;
  std::uint64_t began_ns = 0;  ///< since 1970
};

/// Sends a trace, whose frames have trailers, through a device, and accounts for what comes back: one trial of RFC
/// 2544. The caller's thread sends; another receives meanwhile, and waits for nothing else.
///
/// `stop`: asked between frames; then the trial ends early, with a result.
TrialResult run_trial(std::shared_ptr<const Trace> trace, std::uint32_t streams, TrialEnds ends,
                      const TrialOptions& options, const std::function<bool()>& stop);

}  // namespace parshall::tester
