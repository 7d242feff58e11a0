// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <limits>

namespace parshall::tester {

/// Frames that a test may send, known before it begins. All other frames do not belong to it.
struct TestPlan {
  std::uint32_t id = 0;  ///< XORed with the stream in a trailer; identifies this trial's frames
  std::uint32_t streams = 0;
  std::uint64_t frames = 0;                                          ///< most frames of a stream
  std::uint64_t begin_ns = 0;                                        ///< earliest time of sending, since 1970
  std::uint64_t end_ns = std::numeric_limits<std::uint64_t>::max();  ///< latest time of sending
};

}  // namespace parshall::tester
