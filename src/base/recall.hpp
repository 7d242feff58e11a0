// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace parshall {

/// Share of its events that a task found.
struct Recall {
  double expected = 1;
  double at_least = 1;  ///< lower bound that holds in 95 of 100 windows
};

}  // namespace parshall
