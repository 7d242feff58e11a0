// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "classify/model_origin.hpp"
#include "classify/samples.hpp"
#include "pipeline/measure/classifier.hpp"

namespace parshall {

/// What all models have.
struct ModelHead {
  std::size_t packets = 0;
  std::uint16_t longest = 0;
  double reject = 0;
  std::vector<std::string> classes;
};

/// A trained model: what tells classes apart, and its place in a file.
class Model : public Classifier {
 public:
  Model(std::size_t packets, std::uint16_t longest, double reject, std::vector<std::string> classes)
      : packets_(packets), longest_(longest), reject_(reject), classes_(std::move(classes)) {}
  explicit Model(ModelHead head) : Model(head.packets, head.longest, head.reject, std::move(head.classes)) {}

  std::size_t packets() const noexcept final { return packets_; }
  std::span<const std::string> classes() const noexcept final { return classes_; }
  std::uint16_t longest() const noexcept { return longest_; }
  double reject() const noexcept { return reject_; }

  virtual std::string_view kind() const noexcept = 0;  ///< its name in the registry

  /// TOML of what is its own: a table of its kind's name.
  virtual std::string parameters() const = 0;

  /// Each class's probability for one flow; sizes as in classify(), Samples::kMissing where there was no packet, which
  /// classify() takes for a size like any other. They add up to 1, or to less by what of the model says nothing of such
  /// flows (a leaf to which none came); all 0 where no class can be.
  virtual void probabilities(std::span<const std::uint16_t> sizes, std::span<double> out) const = 0;

 private:
  std::size_t packets_;
  std::uint16_t longest_;
  double reject_;
  std::vector<std::string> classes_;
};

/// The likeliest class, or unknown where none is as likely as `reject`; of several alike the lowest number.
ClassId most_likely(std::span<const double> probabilities, double reject) noexcept;

/// The class of each flow: as classify() says, and as probabilities() do where sizes are missing.
std::vector<ClassId> predict(const Model& model, const Samples& samples);

}  // namespace parshall
