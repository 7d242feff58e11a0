// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace parshall {

/// Training options of all kinds of models.
struct TrainingOptions {
  std::uint16_t longest = 1500;  ///< bytes; longer packets, which offloading merged from several, count as this long
  double reject = 0;             ///< a flow is unknown if its class has a lower probability, 0 to 1
  bool use_priors = false;       ///< naive Bayes: classes are as likely as in the training set, not equally likely
  double variance_floor = 1 / 12.0;  ///< naive Bayes, bytes^2: variance of rounding to a whole number
  double confidence = 0.25;          ///< C4.5: pruning, above 0 to 0.5; 0: no pruning
  std::uint32_t least_flows = 2;     ///< C4.5: minimum for each of two branches
  std::uint32_t trees = 16;          ///< forest: number of trees
};

/// Accuracy of a model on captures that it was not trained on.
struct ModelAccuracy {
  std::uint32_t folds = 0;                ///< 0: not tested
  double accuracy = 0;                    ///< fraction of the flows with the right class
  std::vector<double> precision, recall;  ///< by class; NaN: no flow was taken for it, or it has no flows
};

/// Origin of a model.
struct ModelOrigin {
  std::string date, command;
  std::uint64_t captures = 0;
  std::vector<std::uint64_t> flows;  ///< by class
  ModelAccuracy accuracy;
};

}  // namespace parshall
