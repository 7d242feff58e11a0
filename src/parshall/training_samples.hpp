// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "classify/samples.hpp"
#include "parshall/training_plan.hpp"

namespace parshall {

inline constexpr const char* kTrainingStopped = "stopped: nothing was trained";

/// What became of the captures' flows, each one direction of a connection.
struct TrainingFlows {
  Samples samples;
  std::uint64_t too_short = 0;      ///< fewer packets than the model goes by
  std::uint64_t without_label = 0;  ///< the labels say nothing of them; a rule may
  std::uint64_t contradictory_labels = 0;
  std::vector<std::string> warnings;
  std::vector<std::string> captures;  ///< that were read: of folders those files that are captures
};

/// What is wrong with CLASS=FILTER, with any of these.
std::optional<Error> rules_problem(const std::vector<std::string>& rules);

/// Reads all captures. Fails where one that was named cannot be read, or a rule or the labels are wrong, and with
/// kTrainingStopped where `stop` said so.
Result<TrainingFlows> gather_samples(const TrainingInput& input, const std::function<bool()>& stop);

}  // namespace parshall
