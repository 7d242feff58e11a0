// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>

#include "pipeline/capture/source.hpp"

namespace parshall::tester {

/// When a device is taken for one that holds nothing any more. Times are since 1970.
struct QuietPlan {
  std::uint64_t since_ns = 0;  ///< nothing with a trailer is known to have come later
  std::uint64_t quiet_ns = 0;  ///< for which nothing with one is to come
  std::uint64_t patience_ns = 10'000'000'000;
};

/// Takes what still comes until it is quiet: a long queue still sends frames of a trial when the next one begins, which
/// then finds it full.
///
/// Returns false where frames still come after `patience_ns`, or `stop` was asked.
bool wait_until_quiet(PacketSource& source, const QuietPlan& plan, const std::function<bool()>& stop);

}  // namespace parshall::tester
