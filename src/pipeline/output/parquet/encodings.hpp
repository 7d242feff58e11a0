// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace parshall {

// Parquet's encodings of a page's values. Source: Encodings.md of parquet-format.

/// Encodes with DELTA_BINARY_PACKED, which takes as many bits as the differences of a block of 128 need. PLAIN would
/// take 4 or 8 bytes a value. Only as many low bits of `values` as `Int` has are used.
template <class Int>
void put_delta(std::string& out, std::span<const std::uint64_t> values);

/// Encodes numbers of `bits` bits in the hybrid of RLE and bit-packing: one run, packed unless all are the same.
void put_hybrid(std::string& out, std::span<const std::uint64_t> values, unsigned bits);

/// Encodes booleans in PLAIN: bits, the first one lowest.
void put_bits(std::string& out, std::span<const std::uint64_t> values);

/// Writes 4 bytes of length, then the text.
void put_plain(std::string& out, std::string_view text);

/// Writes the `bytes` low bytes of a number, the lowest first.
void put_little(std::string& out, std::uint64_t value, std::size_t bytes);

}  // namespace parshall
