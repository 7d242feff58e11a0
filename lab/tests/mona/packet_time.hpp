// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "lab/rivals/mona/controller.hpp"

namespace parshall::lab {

inline constexpr double kMonaWindowNs = 10e6;

/// 50 ns a packet without tasks, 250 with all: 20 and 4 Mpps.
inline const PacketTime kTime{
    .input_ns = 10, .new_flow_ns = 210, .cached_ns = 30, .uncached_ns = 80, .hit_probability = 0.8};
inline const std::vector<double> kCosts{0, 50, 100, 150, 200};

}  // namespace parshall::lab
