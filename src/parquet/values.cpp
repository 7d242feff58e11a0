// SPDX-License-Identifier: Apache-2.0
#include "parquet/values.hpp"

#include <algorithm>
#include <span>

namespace parshall {
namespace {

/// Reads numbers of `bits` bits each, from the lowest bit on.
class BitReader {
 public:
  explicit BitReader(Bytes bytes) noexcept : bytes_(bytes) {}
  std::uint64_t next(unsigned bits) noexcept {
    std::uint64_t value = 0;
    for (unsigned have = 0; have < bits;) {
      const unsigned in_byte = at_ % 8, take = std::min(8 - in_byte, bits - have);
      value |= std::uint64_t{static_cast<unsigned>(bytes_[at_ / 8]) >> in_byte & ((1u << take) - 1)} << have;
      have += take;
      at_ += take;
    }
    return value;
  }

 private:
  Bytes bytes_;
  std::size_t at_ = 0;
};

}  // namespace

std::uint32_t read_little(ByteReader& reader) noexcept {
  return __builtin_bswap32(static_cast<std::uint32_t>(reader.big(4)));
}

std::optional<std::vector<std::uint64_t>> read_deltas(ByteReader& reader, std::uint64_t most) {
  constexpr std::uint64_t kMostBlock = 4096;
  const std::uint64_t block = reader.varint(), miniblocks = reader.varint(), count = reader.varint();
  if (!reader.ok() || miniblocks == 0 || miniblocks > kMostBlock || block == 0 || block % (miniblocks * 32) != 0 ||
      block > kMostBlock || count > most)
    return std::nullopt;
  const std::uint64_t in_mini = block / miniblocks;
  auto value = static_cast<std::uint64_t>(reader.zigzag());
  std::vector<std::uint64_t> values;
  if (count != 0) values.push_back(value);
  while (values.size() < count) {
    const auto least = static_cast<std::uint64_t>(reader.zigzag());
    const Bytes widths = reader.take(miniblocks);
    if (!reader.ok()) return std::nullopt;
    for (const std::uint8_t bits : widths) {
      if (values.size() >= count) break;
      const Bytes packed = reader.take(in_mini * bits / 8);
      if (!reader.ok() || bits > 64) return std::nullopt;
      BitReader numbers(packed);
      for (std::uint64_t i = 0; i < in_mini && values.size() < count; ++i)
        values.push_back(value += least + numbers.next(bits));
    }
  }
  return values;
}

std::optional<std::vector<std::uint64_t>> read_hybrid(ByteReader reader, unsigned bits, std::uint64_t count) {
  if (bits > 32) return std::nullopt;
  std::vector<std::uint64_t> values;
  while (values.size() < count) {
    const std::uint64_t head = reader.varint(), of_run = head >> 1;
    if (!reader.ok() || of_run == 0) return std::nullopt;
    if ((head & 1) != 0) {  // groups of eight, packed
      const std::uint64_t groups = std::min(of_run, (count - values.size() + 7) / 8);
      const Bytes packed = reader.take(groups * bits);
      if (!reader.ok()) return std::nullopt;
      BitReader numbers(packed);
      for (std::uint64_t i = 0; i < 8 * groups && values.size() < count; ++i) values.push_back(numbers.next(bits));
    } else {
      std::uint64_t value = 0;
      for (unsigned byte = 0; byte < (bits + 7) / 8; ++byte) value |= std::uint64_t{reader.byte()} << 8 * byte;
      if (!reader.ok()) return std::nullopt;
      values.insert(values.end(), std::min(of_run, count - values.size()), value);
    }
  }
  return values;
}

std::optional<std::vector<std::string>> read_texts(ByteReader reader, std::uint64_t count) {
  std::vector<std::string> texts;
  while (texts.size() < count) {
    const Bytes text = reader.take(read_little(reader));
    if (!reader.ok()) return std::nullopt;
    texts.emplace_back(text.begin(), text.end());
  }
  return texts;
}

}  // namespace parshall
