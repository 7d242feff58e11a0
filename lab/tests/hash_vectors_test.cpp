// SPDX-License-Identifier: Apache-2.0
// Each hash of bytes against published vectors, or against another implementation.
#include <gtest/gtest.h>

#include <numeric>
#include <string_view>
#include <vector>

#include "lab/rivals/hashes/crc32c.hpp"
#include "lab/rivals/hashes/folding.hpp"
#include "lab/rivals/hashes/murmur3.hpp"
#include "lab/rivals/hashes/spooky.hpp"

namespace parshall {
namespace {

std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

/// Returns the input of those vectors below that have no text.
std::vector<std::uint8_t> sequence(std::size_t bytes) {
  std::vector<std::uint8_t> sequence(bytes);
  for (std::size_t i = 0; i < bytes; ++i) sequence[i] = static_cast<std::uint8_t>(7 * i + 3);
  return sequence;
}

TEST(Crc32c, GivesTheCheckValueAndTheExamplesOfRfc3720) {
  EXPECT_EQ(Crc32c::of(bytes_of("123456789")), 0xE306'9283u);
  std::vector<std::uint8_t> bytes(32);
  EXPECT_EQ(Crc32c::of(bytes), 0x8A91'36AAu);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  EXPECT_EQ(Crc32c::of(bytes), 0x46DD'794Eu);
  std::iota(bytes.rbegin(), bytes.rend(), std::uint8_t{0});
  EXPECT_EQ(Crc32c::of(bytes), 0x113F'DB5Cu);
  bytes.assign(32, 0xFF);
  EXPECT_EQ(Crc32c::of(bytes), 0x62A8'AB43u);
}

TEST(Murmur3, GivesPublishedHashes) {
  const std::uint8_t four[] = {0x21, 0x43, 0x65, 0x87};
  EXPECT_EQ(Murmur3::seeded({}, 0), 0u);
  EXPECT_EQ(Murmur3::seeded({}, 1), 0x514E'28B7u);
  EXPECT_EQ(Murmur3::seeded({}, 0xFFFF'FFFF), 0x81F1'6F39u);
  EXPECT_EQ(Murmur3::seeded(four, 0), 0xF55B'516Bu);
  EXPECT_EQ(Murmur3::seeded(four, 0x5082'EDEE), 0x2362'F9DEu);
  EXPECT_EQ(Murmur3::seeded(std::span(four).first(3), 0), 0x7E4A'8634u);
  EXPECT_EQ(Murmur3::seeded(bytes_of("The quick brown fox jumps over the lazy dog"), 0x9747'B28C), 0x2FA8'26CDu);
}

// Made with the Python package mmh3 5, mmh3.hash(bytes, 0), for each length from 0.
TEST(Murmur3, AgreesWithAnotherImplementationForEveryLength) {
  constexpr std::uint32_t kHashes[] = {
      0x00000000, 0x5e2a8076, 0xf47f81a3, 0xc6669d12, 0x8f009319, 0x11afad42, 0x25139433, 0x2085f52d, 0xf4eca721,
      0x9d3d0834, 0xe3988376, 0xdab37987, 0xbc32fc18, 0x87807a5c, 0xef37890c, 0x5d11695b, 0x83f5e942, 0xfac750ea,
      0x20f1ea13, 0xfa7bdf2f, 0xb0179e81, 0xf69f1be9, 0x1e1cc555, 0xd8a32040, 0x4ef3e5c6, 0xdb6e831c, 0x28a96cbe,
      0x532ad522, 0x97650564, 0xbcb97a7e, 0x989177a3, 0x635a6c99, 0x657b1bf3, 0x93c16fea, 0xd5c88616, 0x875ae9e7,
      0xf5549ec8, 0x224e06cd, 0x816faabd, 0x8ec5abd4, 0x86b822fd};
  for (std::size_t bytes = 0; bytes < std::size(kHashes); ++bytes)
    EXPECT_EQ(Murmur3::of(sequence(bytes)), kHashes[bytes]) << bytes << " bytes";
}

// Made with the Python package spookyhash 2.1.1, spookyhash.hash64(bytes, seed=0), for each length from 0.
TEST(Spooky, AgreesWithAnotherImplementationForEveryLength) {
  constexpr std::uint64_t kHashes[] = {
      0x232706fc6bf50919, 0x4b87fa4c899cff30, 0x87de1bc1920ea120, 0x5770d2148ccb1962, 0xfd22a0b73e207989,
      0xb885a13dfe959716, 0x4ca0212ea6691900, 0xa99e9412beb02c42, 0x93fa88e896a3c5fd, 0x0a8a835fa235aef0,
      0xc2c3cf06dd842169, 0xbda337a6dfff4456, 0x55c0306fc907b8e3, 0x711e5d011841c19c, 0x89244a886ee65002,
      0x80ff2557a5f3fce9, 0x996b234d7cd0c4ed, 0xe0fdf7e05d4532b1, 0x37b0ae66aaa6a7c5, 0xab489bc0a1718526,
      0xee43f52cacf2927f, 0x2b9103446b02cb9c, 0x09fc85e5d03bdd69, 0xa93c347314b67157, 0xa13e4eacc27569a1,
      0x93caa8911050e629, 0x939de4cd944d37be, 0xd4cb6a6f31594503, 0xfefe7f3747344925, 0x7ea6b0442456295d,
      0x7f24a393c30f406c, 0xb8cc43d889b92e0c, 0xe10b9985690e40f4, 0x126b358fac1ab794, 0x8d6ef70d0a8d957d,
      0xb46656531531a546, 0xc54f6b31e5f8ec15, 0x88bdada138b09607, 0xfe568dc7abe0110f, 0xb2cfec2450f60bca,
      0x86c7a70c80f3387a, 0x67a19cddd7e4e5c3, 0x6508ee5e18a37eb7, 0x96474d1ba0d20fa2, 0xda9cfc8ebe3564a4,
      0x87103734d1a66e4f, 0xb81ac821466766a8, 0xc3eb8b9737232ebd, 0xf091978edcfaf617};
  for (std::size_t bytes = 0; bytes < std::size(kHashes); ++bytes)
    EXPECT_EQ(Spooky::of(sequence(bytes)), kHashes[bytes]) << bytes << " bytes";
}

TEST(Folding, TakesWordsAsNumbersAndFillsUpTheLast) {
  const std::uint8_t bytes[] = {0x12, 0x34, 0x56, 0x78, 0xFF, 0xFF, 0xFF, 0xFF, 0x01};
  EXPECT_EQ(Addition::of(bytes), 0x1334'5677u);
  EXPECT_EQ(Xor::of(bytes), 0xECCB'A987u);
  EXPECT_EQ(Addition::of(std::span(bytes).first(8)), 0x1234'5677u);
}

}  // namespace
}  // namespace parshall
