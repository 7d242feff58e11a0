// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "pipeline/flow/hashes/hash_function.hpp"

namespace parshall::lab {

/// Lists the hashes that the monitor does not have.
std::span<const HashFunction> rival_hashes() noexcept;

}  // namespace parshall::lab
