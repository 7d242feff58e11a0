// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "classify/model.hpp"
#include "classify/registry.hpp"

namespace parshall {

/// The fold of each flow, from 0 on. All flows of a capture are in one: those of one machine and hour are too alike to
/// train by some and test by others. Folds have as many flows of each class as whole captures allow, about, and as many
/// flows altogether. The same for the same seed.
Result<std::vector<std::uint32_t>> folds_of(const Samples& samples, std::uint32_t folds, std::uint64_t seed);

/// How many flows of each class were taken for which.
class Confusion {
 public:
  explicit Confusion(std::size_t classes) : classes_(classes), counts_(classes * (classes + 1)) {}

  /// predicted: a class, or kUnknownClass.
  void add(ClassId of, ClassId predicted) noexcept { ++counts_[place(of, predicted)]; }
  std::uint64_t count(ClassId of, ClassId predicted) const noexcept { return counts_[place(of, predicted)]; }

  std::size_t classes() const noexcept { return classes_; }
  std::uint64_t flows() const noexcept;
  std::uint64_t flows_of(ClassId of) const noexcept;
  std::uint64_t taken_for(ClassId predicted) const noexcept;

  double accuracy() const noexcept;             ///< share of all flows whose class is right; NaN of none
  double precision(ClassId id) const noexcept;  ///< of those taken for it; NaN of none
  double recall(ClassId id) const noexcept;     ///< of those of the class; NaN of none
  ModelAccuracy summary(std::uint32_t folds) const;

 private:
  std::size_t place(ClassId of, ClassId predicted) const noexcept {
    return of * (classes_ + 1) + (predicted == kUnknownClass ? classes_ : predicted);
  }

  std::size_t classes_;
  std::vector<std::uint64_t> counts_;  // rows: of; columns: predicted, the last one unknown
};

struct CrossValidation {
  std::vector<ClassId> predicted;  ///< of each flow, by a model that was trained on the other folds
  std::vector<double>
      likeliest;  ///< probability of the likeliest class, which `reject` goes by; 0 where no class can be
  Confusion confusion;
};

/// folds: of each flow, as of folds_of(). `stop` is asked before each fold; nothing where it said so.
std::optional<CrossValidation> cross_validate(
    const Samples& samples, std::span<const std::uint32_t> folds, const ModelKind& kind, const TrainingOptions& options,
    const std::function<bool()>& stop = [] { return false; });

}  // namespace parshall
