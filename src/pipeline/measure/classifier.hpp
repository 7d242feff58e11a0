// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace parshall {

/// The number of a class among Classifier::classes(), or one of the two below.
using ClassId = std::uint16_t;
inline constexpr ClassId kUnknownClass = 0xfffe;   ///< too like several classes, or like none
inline constexpr ClassId kNotClassified = 0xffff;  ///< too few packets yet

inline constexpr std::size_t kMostFirstPackets = 16;

/// Which threads tell classes.
enum class ToldBy : std::uint8_t { worker, other_threads };

/// Tells the application of a flow by its first packets. Any number of threads may ask one.
class Classifier {
 public:
  virtual ~Classifier() = default;

  virtual std::size_t packets() const noexcept = 0;  ///< whose sizes it goes by, 1 to kMostFirstPackets
  virtual std::span<const std::string> classes() const noexcept = 0;
  virtual std::size_t memory_bytes() const noexcept { return 0; }  ///< that it goes by, of all threads together

  /// sizes: IP packet lengths in bytes, packets() of each flow in their order, one flow after the other; longer ones
  /// than 65,535 as that. ids: one of each flow, never kNotClassified.
  virtual void classify(std::span<const std::uint16_t> sizes, std::span<ClassId> ids) const noexcept = 0;
};

}  // namespace parshall
