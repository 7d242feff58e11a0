// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

#include "base/result.hpp"
#include "lab/profile/retrieval_fit.hpp"

namespace parshall::lab {

/// Estimates the share of a flow table's lookups that CPU caches answer, from the times of sampled lookups.
///
/// The paper takes a sample t for a hit if 1 - F_hit(t) >= F_miss(t). The left side falls and the right one rises, so
/// this is t <= t* with one threshold t*, where both sides are e. The mean share of samples up to t* is P (1 - 2e) + e,
/// not P; the estimate is corrected for that.
///
/// Shape:  32 bytes, however many samples.
/// Cost:   a comparison and two additions a sample.
/// Error:  no bias, except for clipping at 0 and 1, as long as the models hold. The standard error covers sampling
///         only: 0.016 at P = 0.5 for the paper's 1000 samples, with its e of 0.007.
/// Source: Tangari et al., MONA, IEEE/ACM ToN 2020, section IV.B.
class CacheHits {
 public:
  struct Estimate {
    double share;           ///< hits among lookups, 0 to 1
    double standard_error;  ///< error of the share before clipping
  };

  /// Makes an estimator. Error: the models cannot be separated, because a hit takes no less than a miss, or a fourth of
  /// each would be mistaken for the other.
  static Result<CacheHits> make(const RetrievalModel& hit, const RetrievalModel& miss);

  void add(double retrieval_ns) noexcept {
    ++samples_;
    quick_ += retrieval_ns <= threshold_ns_;
  }
  /// Returns nullopt without samples.
  std::optional<Estimate> estimate() const noexcept;
  void reset() noexcept { samples_ = quick_ = 0; }

  double threshold_ns() const noexcept { return threshold_ns_; }      ///< t*
  double mistaken_share() const noexcept { return mistaken_share_; }  ///< e: share of hits mistaken, and of misses
  std::uint64_t samples() const noexcept { return samples_; }
  std::uint64_t quick_samples() const noexcept { return quick_; }  ///< samples up to t*

 private:
  CacheHits(double threshold_ns, double mistaken_share) noexcept
      : threshold_ns_(threshold_ns), mistaken_share_(mistaken_share) {}

  double threshold_ns_, mistaken_share_;
  std::uint64_t samples_ = 0, quick_ = 0;
};

}  // namespace parshall::lab
