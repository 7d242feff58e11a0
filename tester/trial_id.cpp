// SPDX-License-Identifier: Apache-2.0
#include "tester/trial_id.hpp"

#include <sys/random.h>

#include "base/clock.hpp"

namespace parshall::tester {

std::uint32_t draw_trial_id() noexcept {
  std::uint32_t id = 0;
  if (::getrandom(&id, sizeof id, 0) != sizeof id) id = static_cast<std::uint32_t>(cpu_ticks());
  return id;
}

}  // namespace parshall::tester
