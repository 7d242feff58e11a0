// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "base/random.hpp"

namespace parshall::tester {

/// Hands out source ports in random order, in cycles: a port returns only after all others. So it rests as long as
/// possible, as TIME_WAIT requires, and the first connections are each a flow of their own.
///
/// Shape:  2 bytes a port.
class SourcePorts {
 public:
  /// Uses `count` ports from `first` on, without `left_out`.
  SourcePorts(std::uint16_t first, std::uint32_t count, std::uint16_t left_out, std::uint64_t seed) {
    for (std::uint32_t i = 0; i < count; ++i)
      if (const auto port = static_cast<std::uint16_t>(first + i); port != left_out) ports_.push_back(port);
    SplitMix64 random(seed);
    for (std::size_t left = ports_.size(); left > 1; --left) std::swap(ports_[left - 1], ports_[random.below(left)]);
  }

  std::size_t count() const noexcept { return ports_.size(); }

  std::uint16_t next() noexcept {
    if (at_ == ports_.size()) at_ = 0;
    return ports_[at_++];
  }

 private:
  std::vector<std::uint16_t> ports_;
  std::size_t at_ = 0;
};

}  // namespace parshall::tester
