// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/statistics/p2_quantile.hpp"

#include <immintrin.h>

#include <algorithm>
#include <cmath>

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

/// Processes markers in vector lanes: lane k is marker k + 2 of the paper (or the room and slope below it), lane 3 the
/// outermost.
[[gnu::target("avx2,avx512f,avx512vl")]] void P2Quantile::update_vector(double sample,
                                                                        const P2Target& target) noexcept {
  if (count_ - kMarkers >= kMaxCount - kMarkers) [[unlikely]]
    return update_scalar(sample, target);

  // Loads and stores are whole and at the same places each time, so that a flow seen twice in a row forwards its state.
  const __m256d stored = _mm256_loadu_pd(height_.data());
  const __m256d x = _mm256_set1_pd(sample);
  const double top = std::max(sample, height_[4]);
  const __m256d below = _mm256_mask_min_pd(stored, 1, x, stored);
  const __m256d here = _mm256_blend_pd(_mm256_permute4x64_pd(below, 0b11'11'10'01), _mm256_set1_pd(top), 0b1000);
  const __mmask8 passed = static_cast<__mmask8>(_mm256_cmp_pd_mask(x, here, _CMP_LT_OQ) | 0b1000);
  __m128i* const place = reinterpret_cast<__m128i*>(inner_position_.data());
  const __m128i one = _mm_set1_epi32(1);
  const __m128i loaded = _mm_loadu_si128(place);
  const __m128i at = _mm_mask_add_epi32(loaded, passed, loaded, one);

  const __m256d ones = _mm256_set1_pd(1), minus_ones = _mm256_set1_pd(-1);
  const __m256d position = _mm256_cvtepi32_pd(at);
  const __m256d last = _mm256_set1_pd(static_cast<double>(count_));  // the count before this sample: one less
  const __m256d desired = _mm256_add_pd(ones, _mm256_mul_pd(last, _mm256_loadu_pd(target.share.data())));
  const __m256d distance = _mm256_sub_pd(desired, position);
  const __mmask8 far_above = _mm256_cmp_pd_mask(distance, ones, _CMP_GE_OQ);
  const __mmask8 far_below = _mm256_cmp_pd_mask(distance, minus_ones, _CMP_LE_OQ);

  const __m256d position_below = _mm256_blend_pd(_mm256_permute4x64_pd(position, 0b10'01'00'00), ones, 1);
  const __m256d room_below = _mm256_sub_pd(position, position_below);
  const __m256d room_above = _mm256_permute4x64_pd(room_below, 0b11'11'10'01);
  const __mmask8 up = _mm256_mask_cmp_pd_mask(far_above, room_above, ones, _CMP_GT_OQ);
  const __mmask8 down = _mm256_mask_cmp_pd_mask(far_below, room_below, ones, _CMP_GT_OQ);
  const unsigned moving = up | down;

  const __m256d slope_below = _mm256_div_pd(_mm256_sub_pd(here, below), room_below);
  const __m256d slope_above = _mm256_permute4x64_pd(slope_below, 0b11'11'10'01);
  const __m256d step = _mm256_mask_blend_pd(down, ones, minus_ones);
  const __m256d pull = _mm256_add_pd(_mm256_mul_pd(_mm256_add_pd(room_below, step), slope_above),
                                     _mm256_mul_pd(_mm256_sub_pd(room_above, step), slope_below));
  const __m256d parabola =
      _mm256_add_pd(here, _mm256_mul_pd(_mm256_div_pd(step, _mm256_add_pd(room_above, room_below)), pull));
  const __m256d above = _mm256_permute4x64_pd(here, 0b11'11'10'01);
  const __mmask8 inside =
      _mm256_mask_cmp_pd_mask(_mm256_cmp_pd_mask(below, parabola, _CMP_LT_OQ), parabola, above, _CMP_LT_OQ);
  const __m256d line = _mm256_mask_sub_pd(_mm256_add_pd(here, slope_above), down, here, slope_below);
  const __m256d moved =
      _mm256_mask_mov_pd(here, static_cast<__mmask8>(moving), _mm256_mask_mov_pd(line, inside, parabola));
  const __m128i moved_at = _mm_mask_sub_epi32(_mm_mask_add_epi32(at, up, at, one), down, at, one);

  // A marker uses its lower neighbour's new place, so if two neighbours move in one step they go one after the other.
  const bool in_turn = (moving << 1 & (far_above | far_below) & 0b111) != 0;
  const __m256d inner = in_turn ? here : moved;
  _mm256_storeu_pd(height_.data(), _mm256_blend_pd(_mm256_permute4x64_pd(inner, 0b10'01'00'00), below, 1));
  height_[4] = top;
  _mm_storeu_si128(place, in_turn ? at : moved_at);
  if (in_turn) [[unlikely]]
    adjust(target);
}

std::optional<double> P2Quantile::value(const P2Target& target) const noexcept {
  if (count_ == 0) return std::nullopt;
  if (count_ >= kMarkers) return height_[2];
  auto sorted = height_;
  std::sort(sorted.begin(), sorted.begin() + count_);
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

  // The vector step is inlined into the loop; its rare paths are calls.
  [[gnu::flatten]] void update(const SampleBatch& batch) const noexcept override {
    const P2Target target = target_;
    const SampleBatch of = batch;  // stays in registers, whatever is stored
    for (std::size_t i = 0; i < of.size(); ++i) {
      auto& state = *reinterpret_cast<P2Quantile*>(of.state(i));
      const auto sample = static_cast<double>(of.samples[i]);
      if constexpr (kBuiltForAvx512)
        state.update_vector(sample, target);
      else
        state.update_scalar(sample, target);
    }
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
