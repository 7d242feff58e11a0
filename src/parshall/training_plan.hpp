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

/// Captures to learn from, and the labels of their flows.
struct TrainingInput {
  std::vector<std::string> captures;       ///< files, and folders of files
  std::string labels;                      ///< file of known flows; empty: none
  std::optional<std::string> labels_text;  ///< content of the labels, in place of a file
  bool strict = false;                     ///< a bad line in the labels is an error; otherwise it is skipped
  std::vector<std::string> rules;          ///< CLASS=FILTER, for flows without a label; the first match counts
  std::size_t packets = 4;
  std::uint64_t idle_ns = 0;

  bool has_labels() const noexcept { return labels_text || !labels.empty(); }
};

/// Complete description of a training run for `parshall train`. Plain data; problem_of() checks it.
struct TrainingPlan {
  TrainingInput input;
  std::string idle = "15s";                 ///< sets input.idle_ns
  std::string samples;                      ///< CSV file of samples in place of captures; empty: none
  std::optional<std::string> samples_text;  ///< content of the samples file
  std::string model = "c45";                ///< kind of model
  TrainingOptions options;
  std::size_t least_flows = 20, least_captures = 2;  ///< minimum of a class; smaller classes are left out
  std::uint32_t folds = 10;
  std::uint64_t seed = 1;  ///< seed of the folds

  static constexpr NumberRange<std::size_t> kPackets{1, 16};
  static constexpr NumberRange<std::uint16_t> kLongest{64, 65535};
  static constexpr NumberRange<double> kReject{0, 1}, kVarianceFloor{1e-6, 1e9}, kConfidence{0, 0.5};
  static constexpr NumberRange<std::uint32_t> kLeastBranch{1, 1u << 30}, kTrees{1, 256}, kFolds{2, 1000};

  bool has_samples() const noexcept { return samples_text || !samples.empty(); }
};

/// Returns what is wrong with the plan, worded as the command line words it.
std::optional<Error> problem_of(const TrainingPlan& plan);

/// Callbacks of a training run.
struct TrainingWatch {
  std::function<void(const std::string&)> say = [](const std::string&) {};  ///< gets messages for the user
  std::function<bool()> stop = [] { return false; };  ///< called often, from any thread; true ends the training
};

}  // namespace parshall
