// SPDX-License-Identifier: Apache-2.0
#include "lab/rivals/hashes/registry.hpp"

#include "lab/rivals/hashes/crc32c.hpp"
#include "lab/rivals/hashes/dpdk/softrss.hpp"
#include "lab/rivals/hashes/folding.hpp"
#include "lab/rivals/hashes/murmur3.hpp"
#include "lab/rivals/hashes/spooky.hpp"
#include "lab/rivals/hashes/toeplitz.hpp"
#include "lab/rivals/hashes/toeplitz_gfni.hpp"
#include "lab/rivals/hashes/xxh3.hpp"

namespace parshall::lab {

std::span<const HashFunction> rival_hashes() noexcept {
  constexpr bool kUnkeyed = false;
  static const HashFunction hashes[] = {
      {"xxh3", "XXH3 of the xxHash library", 64, kUnkeyed, kBytewise<Xxh3>},
      {"spooky", "Bob Jenkins's SpookyHash V2", 64, kUnkeyed, kBytewise<Spooky>},
      {"murmur3", "MurmurHash3, 32-bit variant", 32, kUnkeyed, kBytewise<Murmur3>},
      {"crc32c", "the CPU's CRC-32C; linear", 32, kUnkeyed, kBytewise<Crc32c>},
      {"addition", "sum of 32-bit words; collides on ordinary traffic", 32, kUnkeyed, kBytewise<Addition>},
      {"xor", "XOR of 32-bit words; collides on ordinary traffic", 32, kUnkeyed, kBytewise<Xor>},
      {"toeplitz", "the cards' RSS hash by tables, Microsoft's key; linear", 32, kUnkeyed,
       kBytewiseWithoutProtocol<Toeplitz>},
      {"toeplitz-gfni", "Toeplitz by bit matrices: needs GFNI and AVX-512 VBMI", 32, kUnkeyed, toeplitz_gfni_batches(),
       "toeplitz"},
      {"softrss", "Toeplitz by DPDK's rte_softrss: needs DPDK", 32, kUnkeyed, softrss_batches(), "toeplitz"},
      {"softrss-be", "Toeplitz by DPDK's rte_softrss_be: needs DPDK", 32, kUnkeyed, softrss_be_batches(), "toeplitz"},
  };
  return hashes;
}

}  // namespace parshall::lab
