// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "traffic/memory_source.hpp"

namespace parshall::bench {

/// Another program's way to count flows, on the same frames.
class Rival {
 public:
  virtual ~Rival() = default;
  virtual void run(PacketSource& source, std::size_t packets) = 0;
  virtual std::uint64_t counted() const = 0;  ///< packets that were counted in a flow
};

/// FloWatcher-DPDK's double hash. The low bits of a 32-bit hash select a bucket of two entries, each with a 16-bit tag
/// and a 32-bit count. A third flow of a bucket is not counted. Textbook scalar header access, no prefetch, as
/// published.
/// Source: Zhang et al., "FloWatcher-DPDK: lightweight line-rate flow-level monitoring in software", IEEE TNSM 16(3),
///         2019.
std::unique_ptr<Rival> make_double_hash(std::size_t buckets, std::uint64_t seed);

/// Makes the same with the Toeplitz hash in software, which a device without RSS needs.
std::unique_ptr<Rival> make_double_hash_toeplitz(std::size_t buckets);

/// DPDK's rte_hash with bulk lookup of 64 keys, our header decoding and our hash; null in a build without DPDK.
std::unique_ptr<Rival> make_rte_hash(std::size_t flows, std::uint64_t seed);

}  // namespace parshall::bench
