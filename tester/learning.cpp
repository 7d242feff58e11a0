// SPDX-License-Identifier: Apache-2.0
#include "tester/learning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "traffic/frame_sizes.hpp"

namespace parshall::tester {
namespace {

constexpr std::uint64_t kRoundNs = 100'000'000;
constexpr std::uint64_t kLearningFrames = 10;  ///< per round

}  // namespace

std::optional<Error> wait_until_ready(std::shared_ptr<const Trace> trace, std::uint32_t streams, TrialEnds ends,
                                      std::uint64_t patience_ns, const std::function<bool()>& stop) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::nanoseconds(patience_ns);
  // Frames of an earlier round may come through in a later one.
  const std::uint32_t id = draw_trial_id();
  const std::uint64_t begin_ns = realtime_ns();
  for (std::uint64_t round_ns = kRoundNs; !stop();) {
    round_ns = std::min(2 * round_ns, std::max<std::uint64_t>(patience_ns / 4, kRoundNs));
    const TrialResult round =
        run_trial(trace, streams, ends,
                  {.send = {.rate = {SendRate::Unit::packets, kLearningFrames * 1e9 / static_cast<double>(round_ns)},
                            .frames = kLearningFrames},
                   .settle_ns = kRoundNs,
                   .book = {},
                   .id = id,
                   .begin_ns = begin_ns},
                  stop);
    if (round.sending.too_long != 0)
      return Error{fmt::format("the sending device takes frames of up to {} bytes: give a smaller size",
                               ends.sink.longest_frame() + kFcsBytes)};
    const FrameCounts& came = round.receiver->frames();
    if (came.ours != 0) return std::nullopt;
    if (std::chrono::steady_clock::now() >= until)
      return Error{
          fmt::format("nothing comes back: none of {} frames in the last {} ms ({} other frames arrived, {} frames of "
                      "other tests). Is the device up, and does it forward these addresses to the receiving interface? "
                      "(addresses=benchmark; dst-mac=...)",
                      round.sending.sent, round_ns / 1'000'000, came.foreign, came.contradictory)};
  }
  return Error{"stopped before any frame came back"};
}

}  // namespace parshall::tester
