// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "classify/cross_validation.hpp"
#include "classify/model_file.hpp"
#include "classify/samples.hpp"
#include "parshall/training_plan.hpp"

namespace parshall {

/// What there is to learn from.
struct TrainingSet {
  Samples samples;
  std::vector<std::string> captures;  ///< files that were read for it
};

/// Of captures, or of samples that were written. Error: a file that cannot be read or makes no sense; `watch` stopped
/// it.
Result<TrainingSet> training_set(const TrainingPlan& plan, const TrainingWatch& watch);

/// A model, and how right it was on captures that it had not seen.
struct Training {
  Samples samples;                   ///< that were learnt from: of classes with enough of them, in the order of names
  std::vector<std::uint32_t> folds;  ///< of each sample
  CrossValidation validation;
  ModelFile file;  ///< the model, trained on all of them
};

/// Tries the model by cross-validation, and trains it on all samples of classes that have enough.
/// command: what the model's file says it is from. Error: too few classes or captures; `watch` stopped it.
Result<Training> train(const Samples& all, const TrainingPlan& plan, const std::string& command,
                       const TrainingWatch& watch);

}  // namespace parshall
