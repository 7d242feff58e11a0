// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace parshall {

/// What all kinds of models are trained by.
struct TrainingOptions {
  std::uint16_t longest = 1500;      ///< bytes; longer packets, which offloading made of several, count as this long
  double reject = 0;                 ///< the class is unknown where its probability is below this, 0 to 1
  bool use_priors = false;           ///< naive Bayes: classes are as likely as in the training set, not all alike
  double variance_floor = 1 / 12.0;  ///< naive Bayes, bytes^2: of a whole number that is rounded
  double confidence = 0.25;          ///< C4.5: of pruning, above 0 to 0.5; 0: no pruning
  std::uint32_t least_flows = 2;     ///< C4.5: in each of two branches
  std::uint32_t trees = 16;          ///< forest
};

/// How right a model is on captures that it was not trained on.
struct ModelAccuracy {
  std::uint32_t folds = 0;                ///< 0: it was not tried
  double accuracy = 0;                    ///< share of the flows whose class is right
  std::vector<double> precision, recall;  ///< by class; NaN: none were taken for it, or there were none
};

/// Where a model is from.
struct ModelOrigin {
  std::string date, command;
  std::uint64_t captures = 0;
  std::vector<std::uint64_t> flows;  ///< by class
  ModelAccuracy accuracy;
};

}  // namespace parshall
