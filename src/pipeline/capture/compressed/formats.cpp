// SPDX-License-Identifier: Apache-2.0
#include "pipeline/capture/compressed/formats.hpp"

#include <algorithm>
#include <array>

namespace parshall {
namespace {

using Head = std::span<const std::uint8_t>;

template <std::uint8_t... kMagic>
bool begins_with(Head head) noexcept {
  constexpr std::array<std::uint8_t, sizeof...(kMagic)> kBytes{kMagic...};
  return head.size() >= kBytes.size() && std::equal(kBytes.begin(), kBytes.end(), head.begin());
}

/// Returns whether `head` starts a data frame, or a skippable one as pzstd writes it. lz4 uses the same magic for
/// skippable frames, but never puts one first.
bool is_zstd(Head head) noexcept {
  const bool skippable = head.size() >= 4 && head[0] >> 4 == 5 && head[1] == 0x2a && head[2] == 0x4d && head[3] == 0x18;
  return skippable || begins_with<0x28, 0xb5, 0x2f, 0xfd>(head);
}

constexpr std::array kFormats{
    CompressedFormat{"gzip", "gzip -dc", true, begins_with<0x1f, 0x8b>, make_gzip_decoder},
    CompressedFormat{"zstd", "zstd -dc --long=31", false, is_zstd, make_zstd_decoder},
    CompressedFormat{"lz4", "lz4 -dc", false, begins_with<0x04, 0x22, 0x4d, 0x18>, make_lz4_decoder},
    CompressedFormat{"xz", "xz -dc", true, begins_with<0xfd, '7', 'z', 'X', 'Z', 0>, make_xz_decoder},
};

}  // namespace

std::span<const CompressedFormat> compressed_formats() noexcept { return kFormats; }

const CompressedFormat* compressed_format_of(Head head) noexcept {
  const auto found =
      std::ranges::find_if(kFormats, [&](const CompressedFormat& format) { return format.begins(head); });
  return found != kFormats.end() ? &*found : nullptr;
}

}  // namespace parshall
