// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>

#include "pipeline/capture/source.hpp"

namespace parshall::tester {

/// Condition for a device to count as empty. Times are since 1970.
struct QuietPlan {
  std::uint64_t since_ns = 0;  ///< time of the last known frame with a trailer
  std::uint64_t quiet_ns = 0;  ///< time without such frames that is required
  std::uint64_t patience_ns = 10'000'000'000;
};

/// Receives remaining frames until it is quiet. A device with a long queue would otherwise still send frames of a trial
/// when the next one begins, and its queue would be full then.
///
/// Returns false if frames still come after `patience_ns`, or if `stop` returned true.
bool wait_until_quiet(PacketSource& source, const QuietPlan& plan, const std::function<bool()>& stop);

}  // namespace parshall::tester
