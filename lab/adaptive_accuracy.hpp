// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "lab/adaptive_experiment.hpp"
#include "lab/adaptive_outcome.hpp"
#include "lab/adaptive_stretches.hpp"

namespace parshall::lab {

/// Compares the events that the run found for a task in these windows with those in `truth`.
TaskAccuracy judge(const std::string& task, const Outcome& outcome, const Outcome& truth, const Stretches& judged,
                   double threshold);

}  // namespace parshall::lab
