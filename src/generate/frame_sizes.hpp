// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace parshall {

inline constexpr std::uint32_t kFcsBytes = 4;

/// How long frames are, with their FCS: one size, or several and how many frames are of each.
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

  /// Seven frames of 64 bytes, four of 570, one of 1518: the "simple IMIX" of the makers of test devices. Others count
  /// 594 or, for packets without Ethernet, 40, 576 and 1500. RFC 6985 names a mix by its sizes in their order (a for
  /// 64, g for 1518, capitals for one's own), but has none for everybody.
  static FrameSizes simple_imix();

  /// "64", "imix", "64-1518" (each as often), "64:7+570:4+1518:1". Nothing where it is none of them.
  static std::optional<FrameSizes> parse(std::string_view text);

  bool alike() const noexcept { return least() == most(); }
  std::uint32_t least() const noexcept;
  std::uint32_t most() const noexcept;

  /// Sizes of so many frames, shuffled: of each its share of them, rounded either way. Throws std::bad_alloc.
  std::vector<std::uint16_t> deal(std::uint64_t frames, std::uint64_t seed) const;

 private:
  std::vector<Weighted> sizes_;
};

}  // namespace parshall
