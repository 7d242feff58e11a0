// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <span>
#include <string_view>

#include "classify/model.hpp"

namespace parshall {

class ModelReader;

/// Kind of model.
struct ModelKind {
  std::string_view name, help;

  /// Trains a model. Throws std::length_error if it would need absurd memory.
  std::unique_ptr<Model> (*train)(const Samples& samples, const TrainingOptions& options);

  /// Reads a model. Returns null, with a complaint, if the file's table of this name is malformed.
  std::unique_ptr<Model> (*read)(ModelHead head, ModelReader& reader);
};

std::span<const ModelKind> model_kinds() noexcept;

/// Returns the kind of this name, or null.
const ModelKind* find_model_kind(std::string_view name) noexcept;

}  // namespace parshall
