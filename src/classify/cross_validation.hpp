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

/// Returns the fold of each flow, from 0 on. All flows of a capture are in one fold, because those of one machine and
/// hour are too similar to train with some and test with others. Folds have about the same number of flows of each
/// class, as far as whole captures allow, and of flows altogether. The same seed gives the same folds.
Result<std::vector<std::uint32_t>> folds_of(const Samples& samples, std::uint32_t folds, std::uint64_t seed);

/// Counts, for each class, which classes its flows were taken for.
class Confusion {
 public:
  explicit Confusion(std::size_t classes) : classes_(classes), counts_(classes * (classes + 1)) {}

  /// Adds a flow. `predicted` is a class or kUnknownClass.
  void add(ClassId of, ClassId predicted) noexcept { ++counts_[place(of, predicted)]; }
  std::uint64_t count(ClassId of, ClassId predicted) const noexcept { return counts_[place(of, predicted)]; }

  std::size_t classes() const noexcept { return classes_; }
  std::uint64_t flows() const noexcept;
  std::uint64_t flows_of(ClassId of) const noexcept;
  std::uint64_t taken_for(ClassId predicted) const noexcept;

  double accuracy() const noexcept;             ///< fraction of all flows with the right class; NaN without flows
  double precision(ClassId id) const noexcept;  ///< right fraction of flows taken for the class; NaN without any
  double recall(ClassId id) const noexcept;     ///< right fraction of the class's flows; NaN without any
  ModelAccuracy summary(std::uint32_t folds) const;

 private:
  std::size_t place(ClassId of, ClassId predicted) const noexcept {
    return of * (classes_ + 1) + (predicted == kUnknownClass ? classes_ : predicted);
  }

  std::size_t classes_;
  std::vector<std::uint64_t> counts_;  // rows: true class; columns: predicted class, the last one unknown
};

struct CrossValidation {
  std::vector<ClassId> predicted;  ///< class of each flow, by a model that was trained on the other folds
  std::vector<double>
      likeliest;  ///< probability of the likeliest class, compared with `reject`; 0 if no class is possible
  Confusion confusion;
};

/// Cross-validates. `folds` is the result of folds_of(). Calls `stop` before each fold, and returns nullopt if it
/// returned true.
std::optional<CrossValidation> cross_validate(
    const Samples& samples, std::span<const std::uint32_t> folds, const ModelKind& kind, const TrainingOptions& options,
    const std::function<bool()>& stop = [] { return false; });

}  // namespace parshall
