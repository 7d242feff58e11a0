// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "classify/model.hpp"
#include "classify/port_classes.hpp"

namespace parshall {

inline constexpr std::size_t kMostModelBytes = std::size_t{16} << 20;  ///< limit for a model's file

/// A model with its origin, and the classes of flows that are too short for it.
struct ModelFile {
  std::unique_ptr<Model> model;
  ModelOrigin origin;
  PortClasses ports = {};
};

/// Returns TOML from which parse_model() restores the same model, with every digit.
std::string to_toml(const Model& model, const ModelOrigin& origin, const PortClasses& ports = {});

/// Parses a model. `name` is the text's name in errors.
Result<ModelFile> parse_model(const std::string& text, const std::string& name);

Result<ModelFile> read_model_file(const std::string& path);
Result<std::unique_ptr<Model>> read_model(const std::string& path);

/// Returns the classifier of a file: the model, with the classes of ports if there are any.
std::shared_ptr<const Classifier> classifier_of(ModelFile file);

/// Returns to_toml() for a file that others will read. Fails if they could not read it.
Result<std::string> model_text(const Model& model, const ModelOrigin& origin, const PortClasses& ports = {});

}  // namespace parshall
