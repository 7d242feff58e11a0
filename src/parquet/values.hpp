// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/byte_reader.hpp"

namespace parshall {

// Reads the encodings of a page's values. Source: Encodings.md of parquet-format. Each returns nullopt if the page is
// invalid.

/// Reads at most `most` numbers in DELTA_BINARY_PACKED.
std::optional<std::vector<std::uint64_t>> read_deltas(ByteReader& reader, std::uint64_t most);

/// Reads `count` numbers of `bits` bits, at most 32, in the hybrid of RLE and bit-packing.
std::optional<std::vector<std::uint64_t>> read_hybrid(ByteReader reader, unsigned bits, std::uint64_t count);

/// Reads a number of four bytes, the lowest first.
std::uint32_t read_little(ByteReader& reader) noexcept;

/// Reads `count` texts, each behind its length.
std::optional<std::vector<std::string>> read_texts(ByteReader reader, std::uint64_t count);

}  // namespace parshall
