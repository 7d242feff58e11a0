// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "classify/model.hpp"

namespace parshall {

inline constexpr std::size_t kMostModelBytes = std::size_t{16} << 20;  ///< of a model's file

/// A model and where it is from.
struct ModelFile {
  std::unique_ptr<Model> model;
  ModelOrigin origin;
};

/// TOML that parse_model() makes the same of: every digit is kept.
std::string to_toml(const Model& model, const ModelOrigin& origin);

/// `name` is what errors call the text.
Result<ModelFile> parse_model(const std::string& text, const std::string& name);

Result<ModelFile> read_model_file(const std::string& path);
Result<std::unique_ptr<Model>> read_model(const std::string& path);

/// to_toml() for a file that others will read. Fails where they could not.
Result<std::string> model_text(const Model& model, const ModelOrigin& origin);

}  // namespace parshall
