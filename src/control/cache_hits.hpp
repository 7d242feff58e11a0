// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

#include "base/result.hpp"
#include "control/retrieval_fit.hpp"

namespace parshall {

/// Share of a flow table's lookups that the processor caches answer, from how long a sample of them took.
///
/// The paper takes a sample t for a hit where 1 - F_hit(t) >= F_miss(t). The left side falls and the right one rises,
/// so this is t <= t* with one threshold t*, where both sides are e. The share of samples up to t* is P (1 - 2e) + e in
/// the mean, not P: what is told here is corrected for it.
///
/// Shape:  32 bytes of numbers, no more however many samples.
/// Cost:   a comparison and two additions a sample.
/// Error:  no bias, but for the cut at 0 and 1, as long as the models hold. The standard error is of sampling alone:
///         0.016 at P = 0.5 of the paper's 1000 samples, with its e of 0.007.
/// Source: Tangari et al., MONA, IEEE TNSM 2020, section IV.B.
class CacheHits {
 public:
  struct Estimate {
    double share;           ///< of hits among lookups, 0 to 1
    double standard_error;  ///< of the share before it was cut
  };

  /// Fails where the models cannot be told apart: a hit takes no less than a miss, or a fourth of each would be taken
  /// for the other.
  static Result<CacheHits> make(const RetrievalModel& hit, const RetrievalModel& miss);

  void add(double retrieval_ns) noexcept {
    ++samples_;
    quick_ += retrieval_ns <= threshold_ns_;
  }
  /// Nothing without samples.
  std::optional<Estimate> estimate() const noexcept;
  void reset() noexcept { samples_ = quick_ = 0; }

  double threshold_ns() const noexcept { return threshold_ns_; }      ///< t*
  double mistaken_share() const noexcept { return mistaken_share_; }  ///< e: of hits, and as well of misses
  std::uint64_t samples() const noexcept { return samples_; }
  std::uint64_t quick_samples() const noexcept { return quick_; }  ///< up to t*

 private:
  CacheHits(double threshold_ns, double mistaken_share) noexcept
      : threshold_ns_(threshold_ns), mistaken_share_(mistaken_share) {}

  double threshold_ns_, mistaken_share_;
  std::uint64_t samples_ = 0, quick_ = 0;
};

}  // namespace parshall
