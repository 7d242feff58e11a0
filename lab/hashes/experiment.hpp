// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "base/figures/harness.hpp"
#include "base/result.hpp"
#include "lab/hashes/quality.hpp"
#include "pipeline/flow/hashes/registry.hpp"

namespace parshall::lab {

/// Names of HashInput's values, in order.
inline constexpr std::string_view kHashInputNames[kHashInputs] = {"addresses", "ports", "5tuple"};

/// Parameters of `parshall bench hashes`. Every input is measured for every IP version, with all hashes that accept it.
struct HashSweep {
  std::vector<const HashFunction*> hashes;
  std::vector<HashInput> inputs{HashInput::addresses, HashInput::with_ports, HashInput::five_tuple};
  std::vector<unsigned> ip_versions{4, 6};
  std::size_t keys = std::size_t{1} << 16;  ///< keys for each kind of traffic, to measure quality; at most kMaxKeys
  int rounds = 15;
  std::uint64_t seed = 1;

  static constexpr std::size_t kMaxKeys = std::size_t{1} << 24;
};

/// Common parameters of the rows of one comparison.
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
  Cost cost;  ///< per key in cache, in batches
  HashQuality random, consecutive;
};

/// Measures, and passes on the rows of each input when it is done. Hash words are checked before a clock starts. Error:
/// a hash gives other words in a batch than for single keys, or other words than an equivalent hash. `stop` is called
/// before each round; the input that it ends is not passed on. Returns the number of inputs.
Result<std::size_t> measure_hashes(const HashSweep& sweep, const std::function<void(std::span<const HashRow>)>& done,
                                   const std::function<bool()>& stop);

/// Returns the number of comparisons.
std::size_t comparisons(const HashSweep& sweep) noexcept;

}  // namespace parshall::lab
