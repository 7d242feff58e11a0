// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <span>
#include <string_view>

#include "classify/model.hpp"

namespace parshall {

class ModelReader;

/// A way to tell classes apart.
struct ModelKind {
  std::string_view name, help;

  /// Throws std::length_error where the model would need absurd memory.
  std::unique_ptr<Model> (*train)(const Samples& samples, const TrainingOptions& options);

  /// Null, and a complaint, where the file's table of this name is malformed.
  std::unique_ptr<Model> (*read)(ModelHead head, ModelReader& reader);
};

std::span<const ModelKind> model_kinds() noexcept;

/// Null where there is none of this name.
const ModelKind* find_model_kind(std::string_view name) noexcept;

}  // namespace parshall
