// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/statistics/p2_quantile.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/simd.hpp"
#include "pipeline/measure/statistics/quantiles.hpp"

// Compiled without contraction to fused multiply-add, since the compiler would contract the two forms differently.

namespace parshall {
namespace {

#ifdef __AVX512VL__
constexpr bool kBuiltForAvx512 = true;
#else
constexpr bool kBuiltForAvx512 = false;
#endif

}  // namespace

void P2Quantile::warm_up(double sample) noexcept {
  height_[count_++] = sample;
  if (count_ < kMarkers) return;
  std::sort(height_.begin(), height_.end());
  inner_position_ = {2, 3, 4};
}

/// Keeps positions between their neighbours: for an extreme percentile, an inner marker may be next to an outer one.
void P2Quantile::halve() noexcept {
  count_ /= 2;
  for (std::uint32_t i = 0; i < 3; ++i) {
    inner_position_[i] = std::clamp(inner_position_[i] / 2, i + 2, count_ - 3 + i);
  }
  for (std::size_t i = 1; i < 3; ++i) inner_position_[i] = std::max(inner_position_[i], inner_position_[i - 1] + 1);
}

[[gnu::noinline]] void P2Quantile::update_scalar(double sample, const P2Target& target) noexcept {
  if (count_ < kMarkers) return warm_up(sample);
  if (count_ == kMaxCount) halve();
  height_[0] = std::min(sample, height_[0]);
  height_[4] = std::max(sample, height_[4]);
  for (std::size_t i = 0; i < 3; ++i) inner_position_[i] += sample < height_[i + 1];
  ++count_;
  adjust(target);
}

void P2Quantile::update_each(const SampleBatch& batch, const P2Target& target) noexcept {
  for (std::size_t i = 0; i < batch.size(); ++i)
    reinterpret_cast<P2Quantile*>(batch.state(i))->update_scalar(static_cast<double>(batch.samples[i]), target);
}

/// Moves each inner marker one position towards the desired one if it is at least one away and there is room.
[[gnu::noinline]] void P2Quantile::adjust(const P2Target& target) noexcept {
  const double last = static_cast<double>(count_) - 1;
  for (std::size_t i = 1; i <= 3; ++i) {
    const double below = i == 1 ? 1 : inner_position_[i - 2], here = inner_position_[i - 1];
    const double above = i == 3 ? count_ : inner_position_[i];
    const double distance = 1 + last * target.share[i - 1] - here;
    const double room_above = above - here, room_below = here - below;
    const bool up = distance >= 1 && room_above > 1;
    const bool down = distance <= -1 && room_below > 1;
    if (!up && !down) continue;

    const double step = up ? 1 : -1;
    const double slope_above = (height_[i + 1] - height_[i]) / room_above;
    const double slope_below = (height_[i] - height_[i - 1]) / room_below;
    const double parabola = height_[i] + step / (room_above + room_below) *
                                             ((room_below + step) * slope_above + (room_above - step) * slope_below);
    const double line = up ? height_[i] + slope_above : height_[i] - slope_below;
    height_[i] = height_[i - 1] < parabola && parabola < height_[i + 1] ? parabola : line;
    inner_position_[i - 1] += up ? 1u : -1u;
  }
}

#ifdef __x86_64__
#define P2_VECTOR [[gnu::target("avx2,avx512f,avx512vl")]]

/// Counts a sample without moving inner markers, and marks the state as listed if one may have to move. Returns whether
/// it did. Lane k is marker k + 2 of the paper.
P2_VECTOR [[gnu::always_inline]] inline bool P2Quantile::count_in(double sample, const P2Target& target) noexcept {
  const __m256d ones = _mm256_set1_pd(1), x = _mm256_set1_pd(sample);
  const double top = std::max(sample, height_[4]);
  const __m256d stored = _mm256_loadu_pd(height_.data());
  const __m256d here = _mm256_blend_pd(_mm256_permute4x64_pd(stored, 0b11'11'10'01), _mm256_set1_pd(top), 0b1000);
  const __mmask8 passed = static_cast<__mmask8>(_mm256_cmp_pd_mask(x, here, _CMP_LT_OQ) | 0b1000);
  __m128i* const place = reinterpret_cast<__m128i*>(inner_position_.data());
  const __m128i before = _mm_loadu_si128(place);
  const __m128i at = _mm_mask_add_epi32(before, passed, before, _mm_set1_epi32(1));
  const __m256d last = _mm256_set1_pd(static_cast<double>(_mm_extract_epi32(before, 3)));
  const __m256d desired = _mm256_add_pd(ones, _mm256_mul_pd(last, _mm256_loadu_pd(target.share.data())));
  const __m256d distance = _mm256_sub_pd(desired, _mm256_cvtepi32_pd(at));
  const __m256d size = _mm256_andnot_pd(_mm256_set1_pd(-0.0), distance);
  const bool may_move = (_mm256_cmp_pd_mask(size, ones, _CMP_GE_OQ) & 0b111) != 0;
  height_[0] = std::min(sample, height_[0]);
  height_[4] = top;
  _mm_storeu_si128(place, _mm_or_si128(at, _mm_set_epi32(static_cast<int>(may_move ? kListed : 0), 0, 0, 0)));
  return may_move;
}

/// Most samples move no marker, but a branch on that would be unpredictable. So the states with a marker to move are
/// listed, and moved after the batch, or when their flow comes again.
P2_VECTOR void P2Quantile::update_vector(const SampleBatch& batch, const P2Target& target) noexcept {
  std::array<P2Quantile*, kStatBatch> listed;
  std::size_t count = 0;
  const auto is_rare = [](const P2Quantile& state) {  // few samples, too many, or listed
    return state.count_ - kMarkers >= kMaxCount - kMarkers;
  };
  const auto move_listed = [&] {
    for (P2Quantile* const state : std::span(listed).first(std::exchange(count, 0))) {
      state->count_ &= ~kListed;
      state->adjust(target);
    }
  };
  for (std::size_t i = 0; i < batch.size(); ++i) {
    auto& state = *reinterpret_cast<P2Quantile*>(batch.state(i));
    const auto sample = static_cast<double>(batch.samples[i]);
    if (is_rare(state)) [[unlikely]] {
      move_listed();
      if (is_rare(state)) {
        state.update_scalar(sample, target);
        continue;
      }
    }
    listed[count] = &state;
    count += state.count_in(sample, target);
  }
  move_listed();
}

#else

void P2Quantile::update_vector(const SampleBatch& batch, const P2Target& target) noexcept {
  update_each(batch, target);
}

#endif

std::optional<double> P2Quantile::value(const P2Target& target) const noexcept {
  if (count_ == 0) return std::nullopt;
  if (count_ >= kMarkers) return height_[2];
  auto sorted = height_;
  std::fill(sorted.begin() + count_, sorted.end(), std::numeric_limits<double>::infinity());
  std::ranges::sort(sorted);
  return sorted[nearest_rank(target.probability, count_) - 1];
}

namespace {

class P2Statistic final : public Statistic {
 public:
  P2Statistic(Variable variable, AskedQuantile asked)
      : variable_(variable), target_(asked.probability), column_{std::move(asked.column)} {}

  Variable variable() const noexcept override { return variable_; }
  std::size_t row_bytes() const noexcept override { return sizeof(P2Quantile); }
  std::span<const Column> columns() const noexcept override { return column_; }

  void update(const SampleBatch& batch) const noexcept override {
    if constexpr (kBuiltForAvx512) return P2Quantile::update_vector(batch, target_);
    P2Quantile::update_each(batch, target_);
  }

  void read(const std::byte* row, std::span<std::optional<double>> out) const noexcept override {
    out[0] = reinterpret_cast<const P2Quantile*>(row)->value(target_);
  }

  bool mergeable() const noexcept override { return false; }
  void merge(std::byte* /*into*/, const std::byte* /*from*/) const noexcept override {}

 private:
  Variable variable_;
  P2Target target_;
  std::array<Column, 1> column_;
};

}  // namespace

std::unique_ptr<Statistic> make_p2_quantile(Variable variable, AskedQuantile asked) {
  return std::make_unique<P2Statistic>(variable, std::move(asked));
}

}  // namespace parshall
