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

/// How a model did, class by class, on captures that it had not seen.
std::span<const Column> training_columns() noexcept;
Part training_part(const Samples& samples, const Confusion& confusion);

/// CSV: a row for each flow, in the order of the samples: its class, what it was taken for, and the probability of the
/// likeliest class, every digit kept.
std::string predictions_csv(const Samples& samples, std::span<const std::uint32_t> folds,
                            const CrossValidation& validation);

/// CSV: a row for each class, a column for each that its flows were taken for.
std::string confusion_csv(const Samples& samples, const Confusion& confusion);

/// The same as a picture, each row's shares of the class, into an SVG or PNG file.
std::optional<Error> draw_confusion(const Samples& samples, const Confusion& confusion, const std::string& path);

}  // namespace parshall::lab
