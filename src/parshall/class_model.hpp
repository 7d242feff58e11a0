// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "classify/model_origin.hpp"
#include "parshall/training_plan.hpp"

namespace parshall {

struct ModelFile;

/// Parameters of a naive Bayes model, by class and packet; NaN where training saw no size. `priors` is empty if all
/// classes are equally likely.
struct GaussianParameters {
  std::vector<double> means, variances, priors;
};

/// Nodes of a decision tree. Each node tests one packet: sizes up to `up_to` continue at `child`, larger ones at the
/// node after it. Child 0 marks a leaf, which holds its flows by class and its verdict (kUnknown if it has none).
struct TreeParameters {
  std::vector<std::uint16_t> packets, up_to, classes;
  std::vector<std::uint32_t> children;
  std::vector<double> flows;
};

/// Classifies flows by application, for use in programs. Any number of threads may use one model; copies share it.
class ClassModel {
 public:
  static constexpr std::uint16_t kUnknown = 0xfffe;  ///< in place of a class: resembles several, or none

  /// Trains a model. `command` is recorded as its origin. Errors are those of `parshall train`.
  static Result<ClassModel> train(const TrainingPlan& plan, const std::string& command, const TrainingWatch& watch);
  static Result<ClassModel> read(const std::string& path);
  /// Parses the text of a model file; errors refer to it as `name`.
  static Result<ClassModel> parse(const std::string& text, const std::string& name);

  const std::string& text() const noexcept;  ///< text of the model file, with every digit kept
  std::string_view kind() const noexcept;
  std::size_t packets() const noexcept;  ///< number of first packets whose sizes the model uses
  std::uint16_t longest() const noexcept;
  double reject() const noexcept;
  std::span<const std::string> classes() const noexcept;
  const ModelOrigin& origin() const noexcept;
  /// Returns the confusion matrix of a model trained here: for each class, its flows by predicted class, with unknown
  /// as the last column. Is empty for a model that was read.
  std::span<const std::uint64_t> confusion() const noexcept;

  /// Predicts the class of each flow: the class number, or kUnknown. `sizes` holds packets() IP packet lengths in bytes
  /// per flow, 0 where a flow had no such packet.
  std::vector<std::uint16_t> predict(std::span<const std::uint16_t> sizes) const;

  /// Returns the parameters, or nullopt if the model is of another kind.
  std::optional<GaussianParameters> gaussian() const;
  std::optional<TreeParameters> tree() const;

 private:
  struct State;
  explicit ClassModel(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  static Result<ClassModel> of(ModelFile file, std::vector<std::uint64_t> confusion);
  std::shared_ptr<const State> state_;
};

}  // namespace parshall
