// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace parshall {

inline constexpr std::uint32_t kFcsBytes = 4;

/// Lengths of frames with FCS: one size, or several with weights.
class FrameSizes {
 public:
  static constexpr std::uint32_t kLeast = 64, kMost = 9018;
  static constexpr std::uint32_t kMostWeight = 1'000'000;

  struct Weighted {
    std::uint32_t bytes;
    std::uint32_t weight;
  };

  FrameSizes(std::uint32_t bytes = kLeast) : sizes_{{bytes, 1}} {}
  explicit FrameSizes(std::vector<Weighted> sizes) : sizes_(std::move(sizes)) {}

  /// Returns the "simple IMIX" of makers of test devices: seven frames of 64 bytes, four of 570, one of 1518. Others
  /// use 594 or, for packets without Ethernet, 40, 576 and 1500. RFC 6985 names a mix by its sizes in their order (a
  /// for 64, g for 1518, capitals for one's own), but defines no standard mix.
  static FrameSizes simple_imix();

  /// Parses "64", "imix", "64-1518" (each equally often) or "64:7+570:4+1518:1". Returns nullopt for other text.
  static std::optional<FrameSizes> parse(std::string_view text);

  bool alike() const noexcept { return least() == most(); }
  std::uint32_t least() const noexcept;
  std::uint32_t most() const noexcept;

  /// Returns the sizes of that many frames, shuffled, each with its share, rounded either way. Throws std::bad_alloc.
  std::vector<std::uint16_t> deal(std::uint64_t frames, std::uint64_t seed) const;

 private:
  std::vector<Weighted> sizes_;
};

}  // namespace parshall
