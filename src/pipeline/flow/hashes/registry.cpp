// SPDX-License-Identifier: Apache-2.0
#include "pipeline/flow/hashes/registry.hpp"

#include <string>

#include "pipeline/flow/hashes/aes.hpp"
#include "pipeline/flow/hashes/crc32c.hpp"
#include "pipeline/flow/hashes/dpdk/softrss.hpp"
#include "pipeline/flow/hashes/folding.hpp"
#include "pipeline/flow/hashes/murmur3.hpp"
#include "pipeline/flow/hashes/spooky.hpp"
#include "pipeline/flow/hashes/toeplitz.hpp"
#include "pipeline/flow/hashes/toeplitz_gfni.hpp"
#include "pipeline/flow/hashes/xxh3.hpp"

namespace parshall {

std::span<const HashFunction> hash_registry() noexcept {
  constexpr bool kKeyed = true, kUnkeyed = false;
#ifdef __AES__
  constexpr auto kAesHelp = "three AES rounds under a secret key";
#else
  constexpr auto kAesHelp = "64-bit multiplications under a secret key, for want of AES instructions";
#endif
  static const HashFunction hashes[] = {
      {"aes", kAesHelp, 64, kKeyed, kKeyedBatches},
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

Result<const HashFunction*> find_hash(std::string_view name) {
  std::string known;
  for (const HashFunction& hash : hash_registry()) {
    if (hash.name == name && hash.available()) return &hash;
    if (hash.name == name)
      return Error{"the hash " + std::string(name) +
                   " is not in this build, or not for this CPU: " + std::string(hash.help)};
    known += (known.empty() ? "" : ", ") + std::string(hash.name);
  }
  return Error{"no hash \"" + std::string(name) + "\"; there is: " + known};
}

}  // namespace parshall
