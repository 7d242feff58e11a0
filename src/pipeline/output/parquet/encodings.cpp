// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/parquet/encodings.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>

#include "pipeline/output/parquet/thrift.hpp"

namespace parshall {
namespace {

constexpr std::size_t kBlock = 128, kMiniblocks = 4, kMiniblock = kBlock / kMiniblocks;

/// Packs `values` with `bits` bits each, the lowest first. Higher bits of each value must be 0.
void pack(std::string& out, std::span<const std::uint64_t> values, unsigned bits) {
  if (bits == 0) return;
  const std::size_t begin = out.size();
  out.resize(begin + (values.size() * bits + 7) / 8 + sizeof(std::uint64_t));  // room for whole words
  char* at = out.data() + begin;
  std::uint64_t word = 0;
  unsigned used = 0;
  for (const std::uint64_t value : values) {
    word |= value << used;
    used += bits;
    if (used < 64) continue;
    std::memcpy(at, &word, sizeof word);
    at += sizeof word;
    used -= 64;
    word = used == 0 ? 0 : value >> (bits - used);
  }
  std::memcpy(at, &word, sizeof word);
  out.resize(begin + (values.size() * bits + 7) / 8);
}

}  // namespace

template <class Int>
void put_delta(std::string& out, std::span<const std::uint64_t> values) {
  static_assert(std::endian::native == std::endian::little);
  using Word = std::make_unsigned_t<Int>;
  put_varint(out, kBlock);
  put_varint(out, kMiniblocks);
  put_varint(out, values.size());
  put_varint(out, zigzag(values.empty() ? 0 : static_cast<Int>(values[0])));
  std::array<std::uint64_t, kBlock> deltas;
  for (std::size_t begin = 1; begin < values.size(); begin += kBlock) {
    const std::size_t count = std::min(kBlock, values.size() - begin);
    Int least = std::numeric_limits<Int>::max();
    for (std::size_t i = 0; i < count; ++i) {
      const auto delta = static_cast<Word>(values[begin + i] - values[begin + i - 1]);
      deltas[i] = delta;
      least = std::min(least, static_cast<Int>(delta));
    }
    for (std::size_t i = 0; i < count; ++i) deltas[i] = static_cast<Word>(deltas[i] - static_cast<Word>(least));
    std::fill(deltas.begin() + static_cast<std::ptrdiff_t>(count), deltas.end(), 0);
    put_varint(out, zigzag(least));
    std::array<unsigned, kMiniblocks> bits{};
    for (std::size_t mini = 0; mini < kMiniblocks; ++mini) {
      std::uint64_t any = 0;
      for (std::size_t i = 0; i < kMiniblock; ++i) any |= deltas[mini * kMiniblock + i];
      bits[mini] = static_cast<unsigned>(std::bit_width(any));
      out += static_cast<char>(bits[mini]);
    }
    for (std::size_t mini = 0; mini * kMiniblock < count; ++mini)
      pack(out, std::span(deltas).subspan(mini * kMiniblock, kMiniblock), bits[mini]);
  }
}
template void put_delta<std::int32_t>(std::string& out, std::span<const std::uint64_t> values);
template void put_delta<std::int64_t>(std::string& out, std::span<const std::uint64_t> values);

void put_hybrid(std::string& out, std::span<const std::uint64_t> values, unsigned bits) {
  if (values.empty()) return;
  if (std::ranges::all_of(values, [&](std::uint64_t value) { return value == values[0]; })) {
    put_varint(out, values.size() << 1);
    return put_little(out, values[0], (bits + 7) / 8);
  }
  constexpr std::size_t kAtOnce = 8;
  const std::size_t groups = (values.size() + kAtOnce - 1) / kAtOnce, whole = values.size() / kAtOnce * kAtOnce;
  put_varint(out, groups << 1 | 1);
  pack(out, values.first(whole), bits);  // ends at a byte border, as eight values always do
  if (whole == values.size()) return;
  std::array<std::uint64_t, kAtOnce> rest{};
  std::ranges::copy(values.subspan(whole), rest.begin());
  pack(out, rest, bits);
}

void put_bits(std::string& out, std::span<const std::uint64_t> values) { pack(out, values, 1); }

void put_plain(std::string& out, std::string_view text) {
  put_little(out, text.size(), 4);
  out += text;
}

void put_little(std::string& out, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) out += static_cast<char>(value >> 8 * i);
}

}  // namespace parshall
