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

/// Data that all models have.
struct ModelHead {
  std::size_t packets = 0;
  std::uint16_t longest = 0;
  double reject = 0;
  std::vector<std::string> classes;
  bool ports = false;  ///< Classifier::begins_with_ports()
};

/// A trained model that can be written to a file.
class Model : public Classifier {
 public:
  Model(std::size_t packets, std::uint16_t longest, double reject, std::vector<std::string> classes)
      : packets_(packets), longest_(longest), reject_(reject), classes_(std::move(classes)) {}
  explicit Model(ModelHead head) : Model(head.packets, head.longest, head.reject, std::move(head.classes)) {
    begins_with_ports_ = head.ports;
  }

  std::size_t packets() const noexcept final { return packets_; }
  bool begins_with_ports() const noexcept final { return begins_with_ports_; }
  /// Says that the first values of the training samples were ports.
  void note_ports() noexcept { begins_with_ports_ = true; }
  std::span<const std::string> classes() const noexcept final { return classes_; }
  std::uint16_t longest() const noexcept { return longest_; }
  double reject() const noexcept { return reject_; }

  virtual std::string_view kind() const noexcept = 0;  ///< name in the registry

  /// Returns the model's own data as TOML: a table with its kind's name.
  virtual std::string parameters() const = 0;

  /// Computes each class's probability for one flow. `sizes` is as in classify(), with Samples::kMissing where there
  /// was no packet; classify() treats that as any other size. The sum is 1, or less if a part of the model knows
  /// nothing about such flows (a leaf that no training flow reached). All are 0 if no class is possible.
  virtual void probabilities(std::span<const std::uint16_t> sizes, std::span<double> out) const = 0;

 private:
  std::size_t packets_;
  std::uint16_t longest_;
  double reject_;
  std::vector<std::string> classes_;
  bool begins_with_ports_ = false;
};

/// Returns the likeliest class, or kUnknownClass if its probability is below `reject`. Ties go to the lowest number.
ClassId most_likely(std::span<const double> probabilities, double reject) noexcept;

/// Returns the class of each flow: by classify(), or by probabilities() if sizes are missing.
std::vector<ClassId> predict(const Model& model, const Samples& samples);

}  // namespace parshall
