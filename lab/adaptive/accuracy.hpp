// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "lab/adaptive/experiment.hpp"
#include "lab/adaptive/outcome.hpp"
#include "lab/adaptive/stretches.hpp"

namespace parshall::lab {

/// Compares the events that the run found for a task in these windows with those in `truth`.
TaskAccuracy judge(const std::string& task, const Outcome& outcome, const Outcome& truth, const Stretches& judged,
                   double threshold);

}  // namespace parshall::lab
