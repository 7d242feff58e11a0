// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "classify/samples.hpp"

namespace parshall::cli {

/// Captures, and who says which class their flows are of.
struct TrainingInput {
  std::vector<std::string> captures;  ///< files, and folders of them
  std::string labels;                 ///< file of Labels; empty: none
  std::vector<std::string> rules;     ///< CLASS=FILTER, for flows of which no label is known; the first that fits
  std::size_t packets = 4;
  std::uint64_t idle_ns = 0;
};

/// What became of the captures' flows, each one direction of a connection.
struct TrainingFlows {
  Samples samples;
  std::uint64_t too_short = 0;      ///< fewer packets than the model goes by
  std::uint64_t without_label = 0;  ///< the labels say nothing of them; a rule may
  std::uint64_t contradictory_labels = 0;
  std::vector<std::string> warnings;
  std::vector<std::string> captures;  ///< that were read: of folders those files that are captures
};

/// Reads all captures. Fails where one that was named cannot be read, or a rule or the labels are wrong.
Result<TrainingFlows> gather_samples(const TrainingInput& input);

}  // namespace parshall::cli
