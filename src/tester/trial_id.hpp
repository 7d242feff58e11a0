// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace parshall::tester {

/// Another one for each trial, whatever its seed: who tests on the same wire may have the same seed.
std::uint32_t draw_trial_id() noexcept;

}  // namespace parshall::tester
