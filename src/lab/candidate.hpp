// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace parshall::lab {

/// A structure under test. It is given flows by number: keys and hashes are made from those as it goes, so that the
/// traffic itself costs little memory traffic.
class Candidate {
 public:
  virtual ~Candidate() = default;

  /// One packet for each flow number: finds or starts the flow, and does the task. Some packets may stay in flight
  /// until drain(). Throws std::bad_alloc where it allocates.
  virtual void run(std::span<const std::uint32_t> flows) = 0;
  virtual void drain() {}

  /// Packets counted for each flow; 0 where it has none. After drain().
  virtual void counts(std::span<std::uint64_t> by_flow) const = 0;

  /// Whether the task reports the flow, by what is kept for it: 1 or 0. After drain(). Nothing of a task that needs no
  /// more than counts.
  virtual void reports(std::span<std::uint8_t>) const {}

  virtual std::size_t places() const noexcept = 0;  ///< that entries may have; 0 where there is no such thing
  virtual std::size_t size() const noexcept = 0;    ///< entries in use
  virtual std::uint64_t rejected() const noexcept { return 0; }  ///< packets of flows it had no room for

  /// Mean number of buckets that find() looks at for these flows; 0 where there is no such thing.
  virtual double mean_probes(std::span<const std::uint32_t>) const noexcept { return 0; }
};

}  // namespace parshall::lab
