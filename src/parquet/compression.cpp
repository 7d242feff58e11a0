// SPDX-License-Identifier: Apache-2.0
#include "parquet/compression.hpp"

#include <zstd.h>

#include <algorithm>

namespace parshall {
namespace {

enum : std::int64_t { kNone = 0, kSnappy = 1, kZstd = 6 };

/// Source: format_description.txt of Snappy.
bool decompress_snappy(Bytes packed, std::span<std::uint8_t> raw) noexcept {
  enum : std::uint8_t { kLiteral, kNear, kFar, kFarther };  // kinds of elements, in their two lowest bits
  ByteReader reader(packed);
  if (reader.varint() != raw.size()) return false;
  const auto little = [&](unsigned bytes) {
    std::size_t value = 0;
    for (unsigned i = 0; i < bytes; ++i) value |= std::size_t{reader.byte()} << 8 * i;
    return value;
  };
  std::size_t at = 0;
  while (reader.ok() && reader.left() != 0) {
    const std::uint8_t head = reader.byte();
    std::size_t length = (head >> 2) + 1u, back = 0;
    switch (head & 3) {
      case kLiteral: {
        constexpr std::size_t kLongest = 60;  // longer ones have their length in the next bytes
        if (length > kLongest) length = little(static_cast<unsigned>(length - kLongest)) + 1;
        const Bytes bytes = reader.take(length);
        if (!reader.ok() || length > raw.size() - at) return false;
        std::ranges::copy(bytes, raw.subspan(at).begin());
        at += length;
        continue;
      }
      case kNear:
        length = (head >> 2 & 7u) + 4u;
        back = static_cast<std::size_t>(head >> 5) << 8 | reader.byte();
        break;
      case kFar:
        back = little(2);
        break;
      default:
        back = little(4);
    }
    if (!reader.ok() || back == 0 || back > at || length > raw.size() - at) return false;
    for (; length != 0; --length, ++at) raw[at] = raw[at - back];  // what it copies may be what it wrote
  }
  return reader.ok() && at == raw.size();
}

}  // namespace

bool can_decompress(std::int64_t codec) noexcept { return codec == kNone || codec == kSnappy || codec == kZstd; }

bool decompress(std::int64_t codec, Bytes packed, std::span<std::uint8_t> raw) noexcept {
  if (codec == kSnappy) return decompress_snappy(packed, raw);
  if (codec == kZstd) return ZSTD_decompress(raw.data(), raw.size(), packed.data(), packed.size()) == raw.size();
  if (codec != kNone || packed.size() != raw.size()) return false;
  std::ranges::copy(packed, raw.begin());
  return true;
}

}  // namespace parshall
