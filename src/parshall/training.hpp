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

/// Samples to learn from.
struct TrainingSet {
  Samples samples;
  PortFlows ports = {};               ///< none from a file of samples
  std::vector<std::string> captures;  ///< files that the samples were read from
};

/// Reads the samples of captures, or of a file of samples. Error: a file cannot be read or is not valid, or `watch`
/// stopped it.
Result<TrainingSet> training_set(const TrainingPlan& plan, const TrainingWatch& watch);

/// A trained model, and its accuracy on captures that it had not seen.
struct Training {
  Samples samples;                   ///< samples used: of classes with enough of them, sorted by class name
  std::vector<std::uint32_t> folds;  ///< fold of each sample
  CrossValidation validation;
  ModelFile file;  ///< model, trained on all samples
};

/// Tries the model by cross-validation, then trains it on all samples of classes that have enough of them. Does the
/// same for the classes of ports. `command` is recorded in the model's file as its origin. Error: too few classes or
/// captures, or `watch` stopped it.
Result<Training> train(const TrainingSet& all, const TrainingPlan& plan, const std::string& command,
                       const TrainingWatch& watch);

}  // namespace parshall
