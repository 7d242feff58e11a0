// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <limits>

namespace parshall::tester {

/// What a test may send, known before it begins. A frame that says anything else is none of it.
struct TestPlan {
  std::uint32_t id = 0;  ///< XORed with the stream in a trailer: tells the frames of this trial from those of any other
  std::uint32_t streams = 0;
  std::uint64_t frames = 0;    ///< the most that a stream may get
  std::uint64_t begin_ns = 0;  ///< no frame is meant to be sent earlier, since 1970
  std::uint64_t end_ns = std::numeric_limits<std::uint64_t>::max();  ///< nor later
};

}  // namespace parshall::tester
