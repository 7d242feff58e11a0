// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>

#include "pipeline/measure/family.hpp"

namespace parshall {

/// Constants of P-square for the quantile it estimates.
struct P2Target {
  explicit constexpr P2Target(double p) noexcept : probability(p), share{p / 2, p, (1 + p) / 2, 1} {}

  double probability;
  std::array<double, 4> share;  ///< fractions of the samples that should be below markers 2 to 5
};

/// Running estimate of one quantile in constant memory, without storing samples.
///
/// Shape:  56 bytes, plain memory, all zero before the first sample: with 8 bytes in front it fills a cache line. The
///         outer markers' positions are 1 and the count, and so are not stored.
/// Cost:   4 compares a sample, and at most 3 marker moves in some; docs/accuracy-statistics.md has the time.
/// Error:  none below 5 samples (nearest rank). Above there is no bound. Short flows are the worst: the estimate of an
///         outer percentile begins as the median of the flow's first five samples.
/// Full:   never. At 2^31 samples, count and positions are halved. From then on a sample weighs as much as two earlier
///         ones, and markers stay where they are. `count()` is then not the number of samples seen.
/// Merge:  impossible: two states cannot be combined. Use the histogram where workers must be added up.
/// Source: Jain and Chlamtac, "The P2 algorithm for dynamic calculation of quantiles and histograms without storing
///         observations", CACM 28(10), 1985, Box 1. Desired positions are computed from the count, not accumulated.
class P2Quantile {
 public:
  static constexpr std::uint32_t kMaxCount = (std::uint32_t{1} << 31) - 1;

  /// Adds a sample, or those of a batch. All forms give the same states, bit for bit. `update_vector` needs a CPU with
  /// AVX-512VL, or one that is not an x86; there it is the same as `update_each`.
  void update_scalar(double sample, const P2Target& target) noexcept;
  static void update_each(const SampleBatch& batch, const P2Target& target) noexcept;
  static void update_vector(const SampleBatch& batch, const P2Target& target) noexcept;

  /// Returns nullopt before the first sample, the exact value (nearest rank) up to four, and an estimate after.
  std::optional<double> value(const P2Target& target) const noexcept;

  std::uint32_t count() const noexcept { return count_; }

  static constexpr int kMarkers = 5;
  double height(int marker) const noexcept { return height_[static_cast<std::size_t>(marker)]; }
  std::uint32_t position(int marker) const noexcept {
    if (marker == 0) return 1;
    return marker == kMarkers - 1 ? count_ : inner_position_[static_cast<std::size_t>(marker) - 1];
  }

 private:
  static constexpr std::uint32_t kListed = std::uint32_t{1} << 31;  ///< in count_, while update_vector() lists it
  static_assert(kMaxCount < kListed);

  bool count_in(double sample, const P2Target& target) noexcept;
  void warm_up(double sample) noexcept;
  void halve() noexcept;
  void adjust(const P2Target& target) noexcept;

  std::array<double, kMarkers> height_;
  std::array<std::uint32_t, 3> inner_position_;
  std::uint32_t count_;
};
static_assert(sizeof(P2Quantile) == 56 && std::is_trivial_v<P2Quantile> && std::is_standard_layout_v<P2Quantile>);

/// Makes a statistic with one P-square state for each flow.
std::unique_ptr<Statistic> make_p2_quantile(Variable variable, AskedQuantile asked);

}  // namespace parshall
