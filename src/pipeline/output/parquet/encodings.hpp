// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace parshall {

// Parquet's encodings of a page's values. Source: Encodings.md of parquet-format.

/// PLAIN would take 4 or 8 bytes of each; DELTA_BINARY_PACKED as many bits as the differences of a block of 128 need.
/// `values` are of as many low bits as `Int` has.
template <class Int>
void put_delta(std::string& out, std::span<const std::uint64_t> values);

/// RLE and bit-packing hybrid, of numbers of `bits` bits: one run, packed unless all are the same.
void put_hybrid(std::string& out, std::span<const std::uint64_t> values, unsigned bits);

/// Booleans as PLAIN has them: bits, the first one lowest.
void put_bits(std::string& out, std::span<const std::uint64_t> values);

/// 4 bytes of length, and the text.
void put_plain(std::string& out, std::string_view text);

/// So many low bytes of a number, the lowest first.
void put_little(std::string& out, std::uint64_t value, std::size_t bytes);

}  // namespace parshall
