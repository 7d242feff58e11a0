// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>

#include "classify/samples.hpp"

namespace parshall::lab {

/// Makes flows of this many classes, each with packet sizes around its own centre. Models trained on them serve to
/// measure cost, which does not depend on accuracy.
Samples made_samples(std::size_t classes, std::size_t packets, std::uint64_t seed);

}  // namespace parshall::lab
