// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/log_bins.hpp"
#include "compare/passed.hpp"

namespace parshall {

/// Delays in bins, of which only those that hold any take memory.
///
/// Shape: 16 bytes for each bin that is used, at most some 15,000 bins.
/// Error: percentiles by 1 % below 2^40 ns (18 minutes); least, mean and largest are exact.
class DelayCounts {
 public:
  static constexpr double kRelativeError = 0.01;

  void add(std::int64_t delay_ns);

  Delays summary() const;

 private:
  struct Bin {
    std::uint32_t number;
    std::uint64_t count;
  };
  std::int64_t percentile(double probability) const;

  std::vector<Bin> bins_;  ///< by number; negative delays are in bin 0
  std::uint64_t count_ = 0;
  __int128 sum_ = 0;
  std::int64_t least_ = std::numeric_limits<std::int64_t>::max(), most_ = std::numeric_limits<std::int64_t>::min();
};

}  // namespace parshall
