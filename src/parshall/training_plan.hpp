// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "classify/model_origin.hpp"
#include "parshall/number_range.hpp"

namespace parshall {

/// Captures, and who says which class their flows are of.
struct TrainingInput {
  std::vector<std::string> captures;       ///< files, and folders of them
  std::string labels;                      ///< CSV file of known flows; empty: none
  std::optional<std::string> labels_text;  ///< what it would say, in place of a file
  std::vector<std::string> rules;          ///< CLASS=FILTER, for flows of which no label is known; the first that fits
  std::size_t packets = 4;
  std::uint64_t idle_ns = 0;

  bool has_labels() const noexcept { return labels_text || !labels.empty(); }
};

/// All that `parshall train` is told of what it learns from, and how. Plain data; problem_of() checks it.
struct TrainingPlan {
  TrainingInput input;
  std::string idle = "15s";                 ///< which sets input.idle_ns
  std::string samples;                      ///< CSV file of samples in place of captures; empty: none
  std::optional<std::string> samples_text;  ///< what it would say
  std::string model = "c45";                ///< its kind
  TrainingOptions options;
  std::size_t least_flows = 20, least_captures = 2;  ///< of a class: others are left out
  std::uint32_t folds = 10;
  std::uint64_t seed = 1;  ///< of the folds

  static constexpr NumberRange<std::size_t> kPackets{1, 16};
  static constexpr NumberRange<std::uint16_t> kLongest{64, 65535};
  static constexpr NumberRange<double> kReject{0, 1}, kVarianceFloor{1e-6, 1e9}, kConfidence{0, 0.5};
  static constexpr NumberRange<std::uint32_t> kLeastBranch{1, 1u << 30}, kTrees{1, 256}, kFolds{2, 1000};

  bool has_samples() const noexcept { return samples_text || !samples.empty(); }
};

/// What is wrong with it, in the words of the command line.
std::optional<Error> problem_of(const TrainingPlan& plan);

/// Who follows a training.
struct TrainingWatch {
  std::function<void(const std::string&)> say = [](const std::string&) {};  ///< gets what a user would want to know
  std::function<bool()> stop = [] { return false; };  ///< asked often: whether to end with nothing; any thread's call
};

}  // namespace parshall
