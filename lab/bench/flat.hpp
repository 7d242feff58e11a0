// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "traffic/traffic.hpp"

namespace parshall::bench {

/// Loops over the frames of a trace with one fixed header layout and one table: no IPv6, no expiry, no counter
/// overflow, no packet descriptor in memory. Its cost is the least that the machine allows.
class FlatLoop {
 public:
  virtual ~FlatLoop() = default;
  virtual void run(std::size_t packets) = 0;
  virtual std::uint64_t counted() const = 0;  ///< packets in its flows; 0 without a table
};

/// Frames of equal length, starting at the `begin`-th; tables have four slots for every two flows.
struct FlatInput {
  std::shared_ptr<const Trace> trace;
  std::size_t begin;
  std::size_t flows;  ///< power of two
  std::uint64_t seed;
};

/// Parses and hashes headers only.
std::unique_ptr<FlatLoop> make_flat_parse(const FlatInput& input);
/// Counts in lines of four 32-bit tags and their counts.
std::unique_ptr<FlatLoop> make_flat_fingerprint(const FlatInput& input);
/// Counts in lines of four keys, compared at once, with a line of their counts. Returns null without AVX-512.
std::unique_ptr<FlatLoop> make_flat_exact(const FlatInput& input);

}  // namespace parshall::bench
