// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <gtest/gtest.h>

#include <string_view>
#include <unordered_map>
#include <vector>

#include "../flow/facts.hpp"
#include "pipeline/flow/identity.hpp"
#include "pipeline/measure/sketches/count_array.hpp"
#include "pipeline/measure/sketches/count_min.hpp"
#include "pipeline/measure/sketches/heavy_keeper.hpp"
#include "pipeline/measure/sketches/space_saving.hpp"
#include "traffic/keys.hpp"

namespace parshall::testing {

struct Ipv4Keys {
  using Key = FlowKey;
  FlowIdentity identity;

  explicit Ipv4Keys(std::uint64_t seed) : identity(KeyFields::five_tuple, Identity::exact, seed) {}
  Key key(std::uint32_t flow) const { return key_of(flow, false); }
  std::uint64_t hash(const Key& key) const { return identity.hash(key); }
};

struct Ipv6Keys : Ipv4Keys {
  using Ipv4Keys::Ipv4Keys;
  Key key(std::uint32_t flow) const { return key_of(flow, true); }
};

/// Of both, as links have them.
struct MixedKeys : Ipv4Keys {
  using Ipv4Keys::Ipv4Keys;
  Key key(std::uint32_t flow) const { return key_of(flow); }
};

struct LabKeys {
  using Key = lab::LabKey<16>;
  lab::LabHasher hasher;

  explicit LabKeys(std::uint64_t seed) : hasher{KeyedHash(seed)} {}
  Key key(std::uint32_t flow) const { return lab::key_of<16>(flow); }
  std::uint64_t hash(const Key& key) const { return hasher(key); }
};

/// All hashes equal: what a structure promises always, it promises now.
struct EqualHashes : Ipv4Keys {
  using Ipv4Keys::Ipv4Keys;
  std::uint64_t hash(const Key&) const { return 0x0123'4567'89AB'CDEF; }
};

/// Packets by flow number, in random order, and how many each flow has.
struct Stream {
  std::vector<std::uint32_t> packets;
  std::unordered_map<std::uint32_t, std::uint64_t> truth;

  /// Exponent 0 is uniform.
  Stream(double zipf, std::size_t flows, std::size_t count, std::uint64_t seed) : packets(count) {
    SplitMix64 random(seed);
    const Zipf skewed(zipf == 0 ? 1 : zipf, flows);
    for (std::uint32_t& flow : packets) {
      flow = static_cast<std::uint32_t>(zipf == 0 ? random.below(flows) : skewed(random));
      ++truth[flow];
    }
  }
  std::uint64_t count(std::uint32_t flow) const {
    const auto found = truth.find(flow);
    return found == truth.end() ? 0 : found->second;
  }
};

/// A sketch that is asked by flow number.
template <class S, class Keys>
class ByFlow {
 public:
  ByFlow(SketchSize size, std::uint64_t seed) : keys_(~seed), sketch_(size, seed) {}

  std::uint64_t add(std::uint32_t flow) {
    const auto key = keys_.key(flow);
    const std::uint64_t hash = keys_.hash(key);
    sketch_.prefetch(hash);
    return sketch_.add(hash, key);
  }
  void add(const Stream& stream) {
    for (const std::uint32_t flow : stream.packets) add(flow);
  }
  std::uint64_t operator[](std::uint32_t flow) const {
    const auto key = keys_.key(flow);
    return sketch_.estimate(keys_.hash(key), key);
  }
  bool keeps(const ErrorBound& bound, const Stream& stream, std::uint32_t flow) const {
    const std::uint64_t truth = stream.count(flow), estimate = (*this)[flow];
    return estimate <= truth + bound.over && truth <= estimate + bound.under;
  }
  std::vector<std::uint64_t> estimates(std::uint32_t flows) const {
    std::vector<std::uint64_t> all(flows);
    for (std::uint32_t flow = 0; flow < flows; ++flow) all[flow] = (*this)[flow];
    return all;
  }
  S& sketch() { return sketch_; }
  const S& sketch() const { return sketch_; }

 private:
  Keys keys_;
  S sketch_;
};

/// The most of `trials` failures of this probability that one has to put up with: more are less likely than 1e-6.
inline unsigned tolerable(unsigned trials, double probability) {
  double exactly = std::pow(1 - probability, trials), more = 1 - exactly;
  unsigned failures = 0;
  while (more > 1e-6 && failures < trials) {
    exactly *= (trials - failures) / (failures + 1.0) * probability / (1 - probability);
    more -= exactly;
    ++failures;
  }
  return failures;
}

}  // namespace parshall::testing
