// SPDX-License-Identifier: Apache-2.0
#include "pipeline/flow/hashes/registry.hpp"

#include <string>
#include <vector>

#include "base/suggestion.hpp"
#include "pipeline/flow/hashes/aes.hpp"

namespace parshall {
namespace {

std::vector<HashFunction>& hashes() {
#ifdef PARSHALL_HAS_AES
  constexpr auto kAesHelp = "three AES rounds under a secret key";
#else
  constexpr auto kAesHelp = "64-bit multiplications under a secret key, for want of AES instructions";
#endif
  static std::vector<HashFunction> all{{"aes", kAesHelp, 64, /*keyed=*/true, kKeyedBatches}};
  return all;
}

}  // namespace

std::span<const HashFunction> hash_registry() noexcept { return hashes(); }

void add_hashes(std::span<const HashFunction> more) { hashes().insert(hashes().end(), more.begin(), more.end()); }

Result<const HashFunction*> find_hash(std::string_view name) {
  for (const HashFunction& hash : hash_registry()) {
    if (hash.name == name && hash.available()) return &hash;
    if (hash.name == name)
      return Error{"the hash " + std::string(name) +
                   " is not in this build, or not for this CPU: " + std::string(hash.help)};
  }
  return Error{"no hash \"" + std::string(name) + "\"" +
               suggestion(name, hash_registry(), &HashFunction::name, "parshall list hashes")};
}

}  // namespace parshall
