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

/// What a naive Bayes model goes by: by class and packet, NaN where no size was seen. Priors: none where all are alike.
struct GaussianParameters {
  std::vector<double> means, variances, priors;
};

/// What a decision tree goes by: of each node its packet, the largest size that goes on at `child`, a greater one at
/// the one after it; child 0: a leaf, with flows by class, and what it says (kUnknown where nothing).
struct TreeParameters {
  std::vector<std::uint16_t> packets, up_to, classes;
  std::vector<std::uint32_t> children;
  std::vector<double> flows;
};

/// A model of application classes, for programs. Any number of threads may ask one; copies share it.
class ClassModel {
 public:
  static constexpr std::uint16_t kUnknown = 0xfffe;  ///< in place of a class: too like several, or like none

  /// Errors as `parshall train` has them. command: what the model says it is from.
  static Result<ClassModel> train(const TrainingPlan& plan, const std::string& command, const TrainingWatch& watch);
  static Result<ClassModel> read(const std::string& path);
  /// `name` is what errors call the text.
  static Result<ClassModel> parse(const std::string& text, const std::string& name);

  const std::string& text() const noexcept;  ///< of its file, every digit kept
  std::string_view kind() const noexcept;
  std::size_t packets() const noexcept;  ///< whose sizes it goes by
  std::uint16_t longest() const noexcept;
  double reject() const noexcept;
  std::span<const std::string> classes() const noexcept;
  const ModelOrigin& origin() const noexcept;
  /// Of what was trained here: of each class by which its flows were taken for, the last column unknown; else empty.
  std::span<const std::uint64_t> confusion() const noexcept;

  /// sizes: IP packet lengths in bytes, packets() of each flow, 0 where there was none. The number of each flow's
  /// class, or kUnknown.
  std::vector<std::uint16_t> predict(std::span<const std::uint16_t> sizes) const;

  /// Nothing where it is of another kind.
  std::optional<GaussianParameters> gaussian() const;
  std::optional<TreeParameters> tree() const;

 private:
  struct State;
  explicit ClassModel(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  static Result<ClassModel> of(ModelFile file, std::vector<std::uint64_t> confusion);
  std::shared_ptr<const State> state_;
};

}  // namespace parshall
