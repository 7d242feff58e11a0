// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "pipeline/flow/hashes/hash_function.hpp"

namespace parshall::lab {

/// Hashes beside the monitor's own, one line each.
std::span<const HashFunction> rival_hashes() noexcept;

}  // namespace parshall::lab
