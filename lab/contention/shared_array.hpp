// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/huge_buffer.hpp"
#include "base/prefetch.hpp"
#include "lab/contention/shared_table.hpp"
#include "traffic/keys.hpp"

namespace parshall::lab {

/// Counts packets by hash in one array of counters that any number of threads may add to at once. Flows that share a
/// place are added up.
///
/// Shape:  at least four 64-bit counters for each flow that it is made for; a flow's counter is given by its hash's top
///         bits.
/// Error:  never below the truth, except for Racy.
/// Source: the count array of Alipourfard et al., SOSR 2018, section 5.1.
template <class Update>
class SharedArray {
 public:
  using Key = LabKey<8>;
  static constexpr bool kShared = Update::kShared, kFlowsApart = false;

  explicit SharedArray(std::size_t flows)
      : counts_(places_for(flows)), shift_(64 - static_cast<unsigned>(std::countr_zero(counts_.size()))) {
    counts_.populate();
  }

  static std::size_t memory_bytes(std::size_t flows) noexcept { return places_for(flows) * sizeof(std::uint64_t); }

  void prefetch(std::uint64_t hash) const noexcept { prefetch_line(&counts_[place(hash)]); }

  [[gnu::always_inline]] bool add(std::uint64_t hash, const Key&) noexcept {
    Update::add(counts_[place(hash)], std::uint64_t{1});
    return true;
  }

  // These must not be called while a thread adds:

  /// Returns the packets of all flows that share the place.
  std::uint64_t packets(std::uint64_t hash, const Key&) const noexcept { return counts_[place(hash)]; }
  std::size_t place(std::uint64_t hash) const noexcept { return hash >> shift_; }

  std::size_t places() const noexcept { return counts_.size(); }
  std::size_t size() const noexcept { return 0; }

 private:
  static std::size_t places_for(std::size_t flows) noexcept {
    return std::bit_ceil(std::max<std::size_t>(2, 4 * flows));
  }

  HugeBuffer<std::uint64_t> counts_;
  unsigned shift_;
};

}  // namespace parshall::lab
