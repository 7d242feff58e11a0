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

/// What became of every packet that came to one worker. Packets have numbers from `first` on: in the order they come.
class ReceiveAudit {
 public:
  explicit ReceiveAudit(std::uint64_t first) noexcept : first_(first) {}

  /// The number of the next packet.
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

  /// Unless all of the `sent` packets arrived, and each that did came out exactly once.
  std::optional<Error> wrong(std::size_t sent) const;

 private:
  std::uint64_t first_;
  std::vector<std::uint8_t> seen_;  ///< how often, up to twice
  std::uint64_t invented_ = 0;
};

/// What is in a pool while nobody has a buffer of it.
struct PoolStock {
  std::size_t made = 0;  ///< buffers that the pool was filled with
  std::size_t back = 0;  ///< that are in it
  std::size_t own = 0;   ///< of these, those that are the pool's, each counted once
};

/// Unless each buffer is back in its pool, once.
std::optional<Error> wrong_stock(std::span<const PoolStock> pools);

}  // namespace parshall::lab
