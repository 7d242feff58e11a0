// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>

#include "base/byte_reader.hpp"

namespace parshall {

/// Returns whether decompress() knows the codec. Source: parquet.thrift, CompressionCodec.
bool can_decompress(std::int64_t codec) noexcept;

/// Decompresses all of `packed`. Returns whether exactly `raw` came of it.
bool decompress(std::int64_t codec, Bytes packed, std::span<std::uint8_t> raw) noexcept;

}  // namespace parshall
