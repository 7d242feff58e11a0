// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <memory>
#include <span>
#include <vector>

#include "pipeline/measure/statistic.hpp"

namespace parshall {

/// A flow's class, told by a Classifier as soon as the flow has had packets enough. Absent before.
///
/// Shape:  4 bytes, and 2 for the size of each packet that the classifier goes by, in whole 8 bytes: 16 for four.
/// Cost:   one classification a flow, with those of the same batch; later packets cost nothing where nothing else is
///         asked of them.
/// Merge:  no: which packets were the first is not known across workers.
/// Source: Santiago del Rio et al., Wire-speed statistical classification of network traffic on commodity hardware,
///         IMC 2012.
class FlowClass final : public Statistic {
 public:
  static constexpr std::string_view kName = "class";

  explicit FlowClass(std::shared_ptr<const Classifier> classifier);

  Variable variable() const noexcept override { return Variable::ip_size; }
  std::size_t row_bytes() const noexcept override { return (sizeof(Head) + 2 * packets_ + 7) / 8 * 8; }
  std::span<const Column> columns() const noexcept override { return columns_; }
  std::optional<std::uint32_t> first_packets() const noexcept override { return packets_; }
  void update(const SampleBatch& batch) const noexcept override;
  void begin(std::byte* row) const noexcept override;
  void read(const std::byte* row, std::span<std::optional<double>> out) const noexcept override;
  bool mergeable() const noexcept override { return false; }
  void merge(std::byte*, const std::byte*) const noexcept override {}

  /// Of a flow's own state.
  ClassId class_of(const std::byte* row) const noexcept;

 private:
  /// What lies before the sizes.
  struct Head {
    std::uint16_t packets_and_one;  ///< whose sizes are there; 0: the flow was there before
    ClassId id;                     ///< once these are all
  };

  std::shared_ptr<const Classifier> classifier_;
  std::uint32_t packets_;
  std::vector<Column> columns_;
};

}  // namespace parshall
