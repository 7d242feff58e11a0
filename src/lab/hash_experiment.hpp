// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "base/figures/harness.hpp"
#include "base/result.hpp"
#include "lab/hash_quality.hpp"
#include "pipeline/flow/hashes/registry.hpp"

namespace parshall::lab {

/// Names of HashInput's values, in their order.
inline constexpr std::string_view kHashInputNames[kHashInputs] = {"addresses", "ports", "5tuple"};

/// What `parshall bench hashes` varies: every input is measured for every version, with all hashes that take it.
struct HashSweep {
  std::vector<const HashFunction*> hashes;
  std::vector<HashInput> inputs{HashInput::addresses, HashInput::with_ports, HashInput::five_tuple};
  std::vector<unsigned> ip_versions{4, 6};
  std::size_t keys = std::size_t{1} << 16;  ///< of each kind of traffic, for the quality; at most kMaxKeys
  int rounds = 15;
  std::uint64_t seed = 1;

  static constexpr std::size_t kMaxKeys = std::size_t{1} << 24;
};

/// What the rows of one comparison have in common.
struct HashedKeys {
  HashInput input;
  bool ipv6;
  std::size_t keys;

  std::size_t input_bytes() const noexcept;
};

/// One hash on one input.
struct HashRow {
  const HashFunction* hash;
  HashedKeys of;
  Cost cost;  ///< per key, in cache, a batch at a time
  HashQuality random, consecutive;
};

/// Measures, and hands over the rows of each input as it is done. Words are checked before a clock starts: a hash that
/// gives a batch other words than its keys alone, or others than the hash it is the same as, is an error. `stop` is
/// asked before each round; the input that it ends is not handed over. Returns how many were.
Result<std::size_t> measure_hashes(const HashSweep& sweep, const std::function<void(std::span<const HashRow>)>& done,
                                   const std::function<bool()>& stop);

/// How many comparisons there are.
std::size_t comparisons(const HashSweep& sweep) noexcept;

}  // namespace parshall::lab
