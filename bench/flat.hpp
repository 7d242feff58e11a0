// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "generate/traffic.hpp"

namespace parshall::bench {

/// A loop over the frames of a trace that knows one layout of headers and one table, and can do nothing else: no IPv6,
/// no expiry, no counter that overflows, no description of a packet that goes through memory. What it takes is what
/// the machine asks for.
class FlatLoop {
 public:
  virtual ~FlatLoop() = default;
  virtual void run(std::size_t packets) = 0;
  virtual std::uint64_t counted() const = 0;  ///< packets in its flows; 0 of one that has no table
};

/// Of frames that are all alike in length, from the `begin`-th on; tables have four slots for every two flows.
struct FlatInput {
  std::shared_ptr<const Trace> trace;
  std::size_t begin;
  std::size_t flows;  ///< a power of two
  std::uint64_t seed;
};

/// Headers and hash alone.
std::unique_ptr<FlatLoop> make_flat_parse(const FlatInput& input);
/// A line of four 32-bit tags and their counts.
std::unique_ptr<FlatLoop> make_flat_fingerprint(const FlatInput& input);
/// A line of four keys, compared at once, and one of their counts. Null without AVX-512.
std::unique_ptr<FlatLoop> make_flat_exact(const FlatInput& input);

}  // namespace parshall::bench
