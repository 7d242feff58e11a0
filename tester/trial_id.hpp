// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace parshall::tester {

/// Returns a different random id for each trial, independent of its seed: another tester on the same wire may use the
/// same seed.
std::uint32_t draw_trial_id() noexcept;

}  // namespace parshall::tester
