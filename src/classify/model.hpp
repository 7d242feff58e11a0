// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "classify/samples.hpp"
#include "pipeline/measure/classifier.hpp"

namespace parshall {

/// What all kinds of models are trained by.
struct TrainingOptions {
  std::uint16_t longest = 1500;      ///< bytes; longer packets, which offloading made of several, count as this long
  double reject = 0;                 ///< the class is unknown where its probability is below this, 0 to 1
  bool use_priors = false;           ///< naive Bayes: classes are as likely as in the training set, not all alike
  double variance_floor = 1 / 12.0;  ///< naive Bayes, bytes^2: of a whole number that is rounded
  double confidence = 0.25;          ///< C4.5: of pruning, above 0 to 0.5; 0: no pruning
  std::uint32_t least_flows = 2;     ///< C4.5: in each of two branches
};

/// How right a model is on captures that it was not trained on.
struct ModelAccuracy {
  std::uint32_t folds = 0;
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

/// What all models have.
struct ModelHead {
  std::size_t packets = 0;
  std::uint16_t longest = 0;
  double reject = 0;
  std::vector<std::string> classes;
};

/// A trained model: what tells classes apart, and its place in a file.
class Model : public Classifier {
 public:
  Model(std::size_t packets, std::uint16_t longest, double reject, std::vector<std::string> classes)
      : packets_(packets), longest_(longest), reject_(reject), classes_(std::move(classes)) {}
  explicit Model(ModelHead head) : Model(head.packets, head.longest, head.reject, std::move(head.classes)) {}

  std::size_t packets() const noexcept final { return packets_; }
  std::span<const std::string> classes() const noexcept final { return classes_; }
  std::uint16_t longest() const noexcept { return longest_; }
  double reject() const noexcept { return reject_; }

  virtual std::string_view kind() const noexcept = 0;  ///< its name in the registry

  /// TOML of what is its own: a table of its kind's name.
  virtual std::string parameters() const = 0;

  /// Each class's probability for one flow; sizes as in classify(), Samples::kMissing where there was no packet, which
  /// classify() takes for a size like any other. All 0 where no class can be.
  virtual void probabilities(std::span<const std::uint16_t> sizes, std::span<double> out) const = 0;

 private:
  std::size_t packets_;
  std::uint16_t longest_;
  double reject_;
  std::vector<std::string> classes_;
};

/// The likeliest class, or unknown where none is as likely as `reject`; of several alike the lowest number.
ClassId most_likely(std::span<const double> probabilities, double reject) noexcept;

/// The class of each flow: as classify() says, and as probabilities() do where sizes are missing.
std::vector<ClassId> predict(const Model& model, const Samples& samples);

}  // namespace parshall
