// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace parshall::lab {

/// A structure under test. It gets flows by number, and makes keys and hashes from these, so that the traffic itself
/// needs little memory bandwidth.
class Candidate {
 public:
  virtual ~Candidate() = default;

  /// Processes one packet for each flow number: finds or starts the flow, and does the task. Some packets may stay in
  /// flight until drain(). Throws std::bad_alloc if it allocates.
  virtual void run(std::span<const std::uint32_t> flows) = 0;
  virtual void drain() {}

  /// Returns the packets counted for each flow, 0 for those without. Call it after drain().
  virtual void counts(std::span<std::uint64_t> by_flow) const = 0;

  /// Returns if the task reports each flow, as 1 or 0. Call it after drain(). Does nothing for a task that only needs
  /// counts.
  virtual void reports(std::span<std::uint8_t>) const {}

  virtual std::size_t places() const noexcept = 0;               ///< places for entries; 0 if not applicable
  virtual std::size_t size() const noexcept = 0;                 ///< entries in use
  virtual std::uint64_t rejected() const noexcept { return 0; }  ///< packets of flows without room

  /// Returns the mean number of buckets that find() inspects for these flows; 0 if not applicable.
  virtual double mean_probes(std::span<const std::uint32_t>) const noexcept { return 0; }
};

}  // namespace parshall::lab
