// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>

#include "classify/samples.hpp"

namespace parshall::lab {

/// Flows of so many classes, each around packet sizes of its own: what a model is made from where its cost is asked,
/// which does not depend on how right it is.
Samples made_samples(std::size_t classes, std::size_t packets, std::uint64_t seed);

}  // namespace parshall::lab
