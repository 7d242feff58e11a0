// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/counters.hpp"

namespace parshall {

/// Counters that one thread counts and any thread may read. Each value is as of some publish(), but different values
/// may be of different ones.
template <CountedBy who>
class PublishedCounters {
 public:
  PublishedCounters() noexcept { publish({}); }

  void publish(const Counters& counters) noexcept {
    std::uint64_t known = 0;
    for (std::size_t i = 0; i < kOwn.size(); ++i) {
      values_[i].store(counters[kOwn[i]], std::memory_order_relaxed);
      if (line_of(kOwn[i]).may_be_absent) known |= std::uint64_t{counters.knows(kOwn[i])} << i;
    }
    known_.store(known, std::memory_order_release);  // stored last, so that each known counter already has its value
  }

  Counters read() const noexcept {
    Counters counters;
    const std::uint64_t known = known_.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < kOwn.size(); ++i)
      if (!line_of(kOwn[i]).may_be_absent || (known >> i & 1) != 0)
        counters.set(kOwn[i], values_[i].load(std::memory_order_relaxed));
    return counters;
  }

  std::uint64_t read(Counter counter) const noexcept {
    for (std::size_t i = 0; i < kOwn.size(); ++i)
      if (kOwn[i] == counter) return values_[i].load(std::memory_order_relaxed);
    return Counters()[counter];
  }

 private:
  static constexpr bool is_own(const CounterLine& line) noexcept { return line.by == who; }
  static constexpr auto kOwn = [] {
    std::array<Counter, std::ranges::count_if(Counters::kTable, is_own)> own{};
    std::size_t next = 0;
    for (const CounterLine& line : Counters::kTable)
      if (is_own(line)) own[next++] = line.id;
    return own;
  }();

  alignas(64) std::array<std::atomic<std::uint64_t>, kOwn.size()> values_;
  std::atomic<std::uint64_t> known_{0};
};

}  // namespace parshall
