// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "classify/port_classes.hpp"
#include "classify/samples.hpp"
#include "parshall/training_plan.hpp"

namespace parshall {

inline constexpr const char* kTrainingStopped = "stopped: nothing was trained";

/// Result of reading the captures; each flow is one direction of a connection.
struct TrainingFlows {
  Samples samples;
  PortFlows ports;                  ///< all flows of a class, also those that are too short
  std::uint64_t too_short = 0;      ///< flows with fewer packets than the model uses
  std::uint64_t without_label = 0;  ///< flows that no label matches; a rule may
  std::uint64_t contradictory_labels = 0;
  std::vector<std::string> notes, warnings;
  std::vector<std::string> captures;  ///< files read; of a folder only those that are captures
};

/// Returns what is wrong with any of these CLASS=FILTER rules.
std::optional<Error> rules_problem(const std::vector<std::string>& rules);

/// Reads all captures. Error: a named capture cannot be read, a rule or the labels are wrong, or `stop` returned true
/// (kTrainingStopped).
Result<TrainingFlows> gather_samples(const TrainingInput& input, const std::function<bool()>& stop);

}  // namespace parshall
