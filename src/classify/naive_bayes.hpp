// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/huge_buffer.hpp"
#include "classify/model.hpp"

namespace parshall {

class ModelReader;

/// Gaussian naive Bayes: selects the class under which the sizes of the first packets are likeliest, as if each size
/// had an independent normal distribution.
///
/// Shape:  a table of log densities by packet, size and class: packets x (longest + 1) rows of whole cache lines.
/// Cost:   one row for each packet; only sums and their maximum are computed.
/// Error:  none: entries are doubles, summed in the order of packets, so the class is that of the densities themselves.
///         If no training flow of a class had a size for a packet, any size there excludes the class.
/// Source: Santiago del Rio et al., IMC 2012, section 3.
class NaiveBayes final : public Model {
 public:
  static constexpr std::string_view kKind = "naive-bayes";
  static constexpr double kLeastVariance = 1e-12;  ///< bytes^2: less than that of whole numbers that are not all equal
  static constexpr std::size_t kMostTableBytes = std::size_t{1} << 30;

  struct Normal {
    double mean, variance;  ///< both NaN: no size was seen

    bool is_known() const noexcept { return mean == mean; }
  };

  /// `normals` are by class and packet. `priors` has one number per class, or is empty if all are equal. Throws
  /// std::length_error if table_bytes() is above kMostTableBytes.
  NaiveBayes(ModelHead head, std::vector<Normal> normals, std::vector<double> priors);

  static std::unique_ptr<Model> train(const Samples& samples, const TrainingOptions& options);
  /// Reads a model. Returns null, with a complaint, if it is malformed.
  static std::unique_ptr<Model> read(ModelHead head, ModelReader& reader);

  static std::size_t table_bytes(std::size_t packets, std::uint16_t longest, std::size_t classes) noexcept;

  std::span<const Normal> normals() const noexcept { return normals_; }
  std::span<const double> priors() const noexcept { return priors_; }

  std::string_view kind() const noexcept override { return kKind; }
  std::size_t memory_bytes() const noexcept override { return table_bytes(packets(), longest(), classes().size()); }
  std::string parameters() const override;
  void classify(std::span<const std::uint16_t> sizes, std::span<ClassId> ids) const noexcept override;
  void probabilities(std::span<const std::uint16_t> sizes, std::span<double> out) const override;

 private:
  template <bool WithReject>
  ClassId class_of(std::span<const double* const> rows) const noexcept;
  const double* row(std::size_t packet, std::uint16_t size) const noexcept;
  double posterior(std::span<const double* const> rows, double best) const noexcept;
  void fill_table();
  double start(std::size_t id) const noexcept;

  std::vector<Normal> normals_;
  std::vector<double> priors_;
  std::size_t width_;             // width of a row
  double unsure_ = 0, sure_ = 0;  // bounds of log(likeliest / second): outside of them, `reject` is decided
  HugeBuffer<double> table_;
};

}  // namespace parshall
