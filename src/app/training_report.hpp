// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/figures/figures.hpp"
#include "base/result.hpp"
#include "classify/cross_validation.hpp"

namespace parshall::lab {

/// Returns the columns of the report per class: accuracy on captures that the model had not seen.
std::span<const Column> training_columns() noexcept;
Part training_part(const Samples& samples, const Confusion& confusion);

/// Formats CSV with a row for each flow, in sample order: its class, its predicted class, and the probability of the
/// likeliest class with every digit.
std::string predictions_csv(const Samples& samples, std::span<const std::uint32_t> folds,
                            const CrossValidation& validation);

/// Formats CSV with a row for each class and a column for each predicted class.
std::string confusion_csv(const Samples& samples, const Confusion& confusion);

/// Draws the confusion matrix into an SVG or PNG file, with shares per row.
std::optional<Error> draw_confusion(const Samples& samples, const Confusion& confusion, const std::string& path);

}  // namespace parshall::lab
