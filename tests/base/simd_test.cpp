// SPDX-License-Identifier: Apache-2.0
#include "base/simd.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string_view>

#include "base/random.hpp"

namespace parshall {
namespace {

using Bytes = std::array<std::uint8_t, 16>;

Bytes bytes_of(simd::Bytes16 vector) {
  Bytes bytes;
  simd::store(bytes.data(), vector);
  return bytes;
}

Bytes random_bytes(SplitMix64& random) {
  Bytes bytes;
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  return bytes;
}

template <class Element>
std::array<Element, 16 / sizeof(Element)> elements_of(const Bytes& bytes) {
  std::array<Element, 16 / sizeof(Element)> elements;
  std::memcpy(elements.data(), bytes.data(), sizeof elements);
  return elements;
}

/// Returns the highest bits of the elements, the first one's as bit 0.
template <class Element>
unsigned highest_bits(const Bytes& bytes) {
  unsigned bits = 0, i = 0;
  for (const Element element : elements_of<Element>(bytes))
    bits |= static_cast<unsigned>(element >> (8 * sizeof element - 1)) << i++;
  return bits;
}

constexpr int kRounds = 1000;

TEST(Simd, WordsAndElementsAreInMemoryOrder) {
  const simd::Bytes16 words = simd::words(0x0706050403020100, 0x0f0e0d0c0b0a0908);
  for (std::uint8_t i = 0; i < 16; ++i) EXPECT_EQ(bytes_of(words)[i], i);
  EXPECT_EQ(simd::low_word(words), 0x0706050403020100u);
  EXPECT_EQ(simd::high_word(words), 0x0f0e0d0c0b0a0908u);
  EXPECT_EQ(simd::element<std::uint16_t>(words, 3), 0x0706);
  EXPECT_EQ(simd::element<std::uint32_t>(words, 2), 0x0b0a0908u);
  for (const std::uint32_t element : elements_of<std::uint32_t>(bytes_of(simd::all(std::uint32_t{0x80000001}))))
    EXPECT_EQ(element, 0x80000001u);
}

TEST(Simd, HalfALoadIsFilledWithZeros) {
  std::array<std::uint8_t, 9> from{1, 2, 3, 4, 5, 6, 7, 8, 9}, to{};
  const simd::Bytes16 low = simd::load_low(from.data());
  EXPECT_EQ(bytes_of(low), (Bytes{1, 2, 3, 4, 5, 6, 7, 8}));
  simd::store_low(to.data(), low);
  EXPECT_EQ(to, (std::array<std::uint8_t, 9>{1, 2, 3, 4, 5, 6, 7, 8, 0}));
}

TEST(Simd, ShufflesAndClearsBytes) {
  const simd::Bytes16 from = simd::words(0x1716151413121110, 0x1f1e1d1c1b1a1918);
  const simd::Order order = {15, 0, simd::kZero, 7, 8, 8, 1, 2, 3, 4, 5, 6, simd::kZero, 14, 13, 0};
  EXPECT_EQ(bytes_of(simd::shuffled(from, order)),
            (Bytes{0x1f, 0x10, 0, 0x17, 0x18, 0x18, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0, 0x1e, 0x1d, 0x10}));
}

TEST(Simd, MasksAreTheHighestBits) {
  SplitMix64 random(1);
  for (int round = 0; round < kRounds; ++round) {
    const Bytes bytes = random_bytes(random);
    const simd::Bytes16 vector = simd::load(bytes.data());
    ASSERT_EQ(simd::mask_of_bytes(vector), highest_bits<std::uint8_t>(bytes));
    ASSERT_EQ(simd::mask_of_words16(vector), highest_bits<std::uint16_t>(bytes));
    ASSERT_EQ(simd::mask_of_words32(vector), highest_bits<std::uint32_t>(bytes));
    ASSERT_EQ(simd::mask_of_words64(vector), highest_bits<std::uint64_t>(bytes));
  }
}

template <class Element>
void expect_same_comparison(const Bytes& a, const Bytes& b) {
  const auto of_a = elements_of<Element>(a), of_b = elements_of<Element>(b);
  const auto equal = elements_of<Element>(bytes_of(simd::equal<Element>(simd::load(a.data()), simd::load(b.data()))));
  for (std::size_t i = 0; i < equal.size(); ++i)
    ASSERT_EQ(equal[i], of_a[i] == of_b[i] ? static_cast<Element>(~Element{0}) : Element{0});
}

TEST(Simd, ComparesElements) {
  SplitMix64 random(2);
  for (int round = 0; round < kRounds; ++round) {
    const Bytes a = random_bytes(random);
    Bytes b = a;
    b[random() % 16] ^= static_cast<std::uint8_t>(1 << random() % 8);
    expect_same_comparison<std::uint8_t>(a, b);
    expect_same_comparison<std::uint16_t>(a, b);
    expect_same_comparison<std::uint32_t>(a, b);
    expect_same_comparison<std::uint64_t>(a, b);
  }
}

TEST(Simd, DifferencesWrapAround) {
  const simd::Bytes16 difference = simd::difference64(simd::words(1, 5), simd::words(2, 3));
  EXPECT_EQ(simd::low_word(difference), ~std::uint64_t{0});
  EXPECT_EQ(simd::high_word(difference), 2u);
}

#ifdef PARSHALL_HAS_AES
/// FIPS 197, appendix B: the state at the start of round 1, the key of that round, and the state at the start of
/// round 2.
TEST(Simd, RoundOfAes) {
  constexpr Bytes kState{0x19, 0x3d, 0xe3, 0xbe, 0xa0, 0xf4, 0xe2, 0x2b,
                         0x9a, 0xc6, 0x8d, 0x2a, 0xe9, 0xf8, 0x48, 0x08};
  constexpr Bytes kKey{0xa0, 0xfa, 0xfe, 0x17, 0x88, 0x54, 0x2c, 0xb1, 0x23, 0xa3, 0x39, 0x39, 0x2a, 0x6c, 0x76, 0x05};
  constexpr Bytes kNext{0xa4, 0x9c, 0x7f, 0xf2, 0x68, 0x9f, 0x35, 0x2b, 0x6b, 0x5b, 0xea, 0x43, 0x02, 0x6a, 0x50, 0x49};
  EXPECT_EQ(bytes_of(simd::aes_round(simd::load(kState.data()), simd::load(kKey.data()))), kNext);
}
#endif

/// The check value of CRC-32C in the catalogue of parametrised CRC algorithms (CRC-32/ISCSI).
TEST(Simd, Crc32c) {
  constexpr std::string_view kDigits = "123456789";
  std::uint32_t by_bytes = ~0u;
  for (const char digit : kDigits) by_bytes = simd::crc32c(by_bytes, static_cast<std::uint8_t>(digit));
  EXPECT_EQ(~by_bytes, 0xe3069283u);
  std::uint64_t eight;
  std::uint32_t four[2];
  std::memcpy(&eight, kDigits.data(), 8);
  std::memcpy(four, kDigits.data(), 8);
  EXPECT_EQ(~simd::crc32c(simd::crc32c(~0u, eight), std::uint8_t{'9'}), 0xe3069283u);
  EXPECT_EQ(~simd::crc32c(simd::crc32c(simd::crc32c(~0u, four[0]), four[1]), std::uint8_t{'9'}), 0xe3069283u);
}

}  // namespace
}  // namespace parshall
