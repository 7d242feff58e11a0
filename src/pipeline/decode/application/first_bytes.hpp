// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace parshall {

/// Puts the first bytes of a stream together from pieces in any order. The first copy of a byte counts.
///
/// Shape: 16.5 KB; clear() writes 4 bytes of it.
/// Full: bytes from `kBytes` on are dropped, and so is a piece that would leave more than `kMostRanges` ranges.
class FirstBytes {
 public:
  static constexpr std::uint32_t kBytes = 16384;
  static constexpr std::uint32_t kMostRanges = 16;

  // The bytes stay as they are: nobody reads one that was not written.
  FirstBytes() noexcept {}  // NOLINT(modernize-use-equals-default): `= default` would zero 16 KB in `FirstBytes{}`

  void clear() noexcept { count_ = 0; }

  void insert(std::uint32_t offset, std::span<const std::uint8_t> piece) noexcept {
    if (offset >= kBytes || piece.empty()) return;
    const Range added{offset,
                      offset + static_cast<std::uint32_t>(std::min<std::size_t>(piece.size(), kBytes - offset))};
    std::uint32_t first = 0;
    while (first < count_ && ranges_[first].end < added.begin) ++first;
    std::uint32_t last = first;  // behind the last range that touches the piece
    while (last < count_ && ranges_[last].begin <= added.end) ++last;
    if (first == last && count_ == kMostRanges) return;

    Range merged = added;
    std::uint32_t at = added.begin;
    for (std::uint32_t i = first; i < last; ++i) {
      copy(at, std::min(ranges_[i].begin, added.end), offset, piece);
      at = std::max(at, ranges_[i].end);
    }
    copy(at, added.end, offset, piece);
    if (first != last) {
      merged.begin = std::min(merged.begin, ranges_[first].begin);
      merged.end = std::max(merged.end, ranges_[last - 1].end);
    }
    replace(first, last, merged);
  }

  /// Returns the bytes from the stream's first one up to the first gap.
  std::span<const std::uint8_t> prefix() const noexcept {
    if (count_ == 0 || ranges_[0].begin != 0) return {};
    return {bytes_.data(), ranges_[0].end};
  }

 private:
  struct Range {
    std::uint32_t begin, end;
  };

  void copy(std::uint32_t from, std::uint32_t to, std::uint32_t offset, std::span<const std::uint8_t> piece) noexcept {
    if (from < to) std::memcpy(bytes_.data() + from, piece.data() + (from - offset), to - from);
  }
  /// Replaces the ranges from `first` up to before `last` by one.
  void replace(std::uint32_t first, std::uint32_t last, Range merged) noexcept {
    const auto at = ranges_.begin();
    if (first == last)
      std::move_backward(at + first, at + count_, at + count_ + 1);
    else
      std::move(at + last, at + count_, at + first + 1);
    ranges_[first] = merged;
    count_ = count_ - (last - first) + 1;
  }

  std::uint32_t count_ = 0;
  std::array<Range, kMostRanges> ranges_;
  std::array<std::uint8_t, kBytes> bytes_;
};

}  // namespace parshall
