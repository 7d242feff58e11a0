// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.hpp"

namespace parshall::lab {

/// Tracks every packet of one worker. Packets are numbered from `first` on, in order of arrival.
class ReceiveAudit {
 public:
  explicit ReceiveAudit(std::uint64_t first) noexcept : first_(first) {}

  /// Returns the number of the next packet.
  std::uint64_t arrived() {
    seen_.push_back(0);
    return first_ + seen_.size() - 1;
  }
  void received(std::uint64_t number) noexcept {
    const std::uint64_t at = number - first_;
    if (at >= seen_.size())
      ++invented_;
    else
      seen_[at] = static_cast<std::uint8_t>(std::min(seen_[at] + 1, 2));
  }

  /// Returns an error unless all of the `sent` packets arrived, and each came out exactly once.
  std::optional<Error> wrong(std::size_t sent) const;

 private:
  std::uint64_t first_;
  std::vector<std::uint8_t> seen_;  ///< how often it came, up to twice
  std::uint64_t invented_ = 0;
};

/// Content of a pool while none of its buffers is in use.
struct PoolStock {
  std::size_t made = 0;  ///< buffers that the pool was filled with
  std::size_t back = 0;  ///< buffers in the pool
  std::size_t own = 0;   ///< buffers of these that belong to the pool, each counted once
};

/// Returns an error unless each buffer is back in its pool exactly once.
std::optional<Error> wrong_stock(std::span<const PoolStock> pools);

}  // namespace parshall::lab
