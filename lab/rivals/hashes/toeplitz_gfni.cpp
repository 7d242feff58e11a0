// SPDX-License-Identifier: Apache-2.0
#include "lab/rivals/hashes/toeplitz_gfni.hpp"

#include "lab/rivals/hashes/rss_key.hpp"

namespace parshall {

#ifdef __x86_64__
namespace {

constexpr std::size_t kMatricesAtOnce = 8, kHashBytes = 4;

/// Matrices of key bits: input byte i adds matrix k = i + j times itself to hash byte j. Row r of matrix k has the
/// key's bits from 8 k + r on.
constexpr auto kMatrices = [] {
  std::array<std::uint64_t, 5 * kMatricesAtOnce> matrices{};
  for (std::size_t k = 0; k + 1 < kRssKey.size(); ++k)
    for (unsigned row = 0; row < 8; ++row)
      matrices[k] |= std::uint64_t{(kRssKey[k] << 8 | kRssKey[k + 1]) >> (8 - row) & 0xFFu} << 8 * row;
  return matrices;
}();

/// Positions of input bytes of the first key (below 64) and the second, so that each is multiplied by its matrices.
///
/// Shape:  eight bytes for each matrix k; byte j is input byte k - j of the first key, byte 4 + j that of the second.
template <HashInput kInput, bool kIpv6>
struct Plan {
  static constexpr std::size_t kBytes = HashedBytes<kInput, kIpv6>::kBytes;
  static constexpr std::size_t kSteps = (kBytes + kHashBytes - 1 + kMatricesAtOnce - 1) / kMatricesAtOnce;
  static constexpr std::size_t kNothing = 63;  // after every key: reads as zero

  static constexpr std::size_t key_byte(std::size_t input_byte) noexcept {
    constexpr std::size_t kAddressBytes = kIpv6 ? 32 : 8;
    return input_byte >= kBytes          ? kNothing
           : input_byte >= kAddressBytes ? input_byte - kAddressBytes
                                         : offsetof(FlowKey, address) + input_byte;
  }
  static constexpr auto kOrder = [] {
    std::array<std::uint8_t, kSteps * 64> order{};
    for (std::size_t k = 0; k < kSteps * kMatricesAtOnce; ++k)
      for (std::size_t j = 0; j < kHashBytes; ++j) {
        order[8 * k + j] = static_cast<std::uint8_t>(key_byte(k - j));
        order[8 * k + kHashBytes + j] = static_cast<std::uint8_t>(64 + key_byte(k - j));
      }
    return order;
  }();
};

/// Returns the hash of the first key in the low half, that of the second in the high half.
template <HashInput kInput, bool kIpv6>
[[gnu::target("gfni,avx512f,avx512bw,avx512dq,avx512vbmi")]] std::uint64_t hash_two(
    const std::uint8_t* first_key, const std::uint8_t* second_key) noexcept {
  using Of = Plan<kInput, kIpv6>;
  constexpr std::uint64_t kKeyBytes = (std::uint64_t{1} << (kIpv6 ? sizeof(FlowKey) : FlowKey::kHeadBytes)) - 1;
  const __m512i first = _mm512_maskz_loadu_epi8(kKeyBytes, first_key);
  const __m512i second = _mm512_maskz_loadu_epi8(kKeyBytes, second_key);
  __m512i sum = _mm512_setzero_si512();
  for (std::size_t step = 0; step < Of::kSteps; ++step) {
    const __m512i order = _mm512_loadu_si512(Of::kOrder.data() + 64 * step);
    const __m512i matrices = _mm512_loadu_si512(kMatrices.data() + kMatricesAtOnce * step);
    const __m512i bytes = _mm512_permutex2var_epi8(first, order, second);
    sum = _mm512_xor_si512(sum, _mm512_gf2p8affine_epi64_epi8(bytes, matrices, 0));
  }
  const __m256i four = _mm256_xor_si256(_mm512_castsi512_si256(sum), _mm512_extracti64x4_epi64(sum, 1));
  const __m128i two = _mm_xor_si128(_mm256_castsi256_si128(four), _mm256_extracti128_si256(four, 1));
  const __m128i one = _mm_xor_si128(two, _mm_unpackhi_epi64(two, two));
  const std::uint64_t swapped = __builtin_bswap64(static_cast<std::uint64_t>(_mm_cvtsi128_si64(one)));
  return swapped >> 32 | swapped << 32;
}

/// Hashes keys from `begin` to `end`, all of one IP version.
template <HashInput kInput, bool kIpv6>
[[gnu::target("gfni,avx512f,avx512bw,avx512dq,avx512vbmi")]] void hash_run(KeySpan keys, std::size_t begin,
                                                                           std::size_t end,
                                                                           std::uint64_t* words) noexcept {
  std::size_t i = begin;
  for (; i + 2 <= end; i += 2) {
    const std::uint64_t both = hash_two<kInput, kIpv6>(keys[i], keys[i + 1]);
    words[i] = both & 0xFFFF'FFFF;
    words[i + 1] = both >> 32;
  }
  if (i != end) words[i] = hash_two<kInput, kIpv6>(keys[i], keys[i]) & 0xFFFF'FFFF;
}

template <HashInput kInput>
void hash_batch(const KeyedHash&, KeySpan keys, std::span<std::uint64_t> words) noexcept {
  for (std::size_t begin = 0, end = 0; begin < keys.size(); begin = end) {
    const bool ipv6 = KeySpan::is_ipv6(keys[begin]);
    while (++end < keys.size() && KeySpan::is_ipv6(keys[end]) == ipv6) {
    }
    (ipv6 ? hash_run<kInput, true> : hash_run<kInput, false>)(keys, begin, end, words.data());
  }
}

}  // namespace

HashBatches toeplitz_gfni_batches() noexcept {
  if (!__builtin_cpu_supports("gfni") || !__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vbmi"))
    return {};
  return {hash_batch<HashInput::addresses>, hash_batch<HashInput::with_ports>, nullptr};
}

#else

HashBatches toeplitz_gfni_batches() noexcept { return {}; }

#endif

}  // namespace parshall
