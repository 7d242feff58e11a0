// SPDX-License-Identifier: Apache-2.0
#include "generate/flow_tuples.hpp"

#include <cstring>
#include <utility>

#include "base/random.hpp"

namespace parshall {
namespace {

/// Bijection of 32 bits: two rounds of xor-shift and odd multiplication.
std::uint32_t scramble(std::uint32_t x) noexcept {
  x = (x ^ x >> 16) * 0x7FEB352Du;
  x = (x ^ x >> 15) * 0x846CA68Bu;
  return x ^ x >> 16;
}

}  // namespace

FlowTuple FlowTuples::operator()(std::uint64_t flow) const noexcept {
  const bool back = connected_ && (flow & 1) != 0;
  if (connected_) flow &= ~std::uint64_t{1};
  SplitMix64 random(SplitMix64::mix(seed_) ^ SplitMix64::mix(flow + 1));
  FlowTuple tuple;
  tuple.ipv6 = random.uniform() < ipv6_share_;
  tuple.tcp = protocol_ == ProtocolMix::tcp || connected_ || (protocol_ == ProtocolMix::mix && flow % 4 != 3);
  const std::uint64_t destination = random(), ports = random();
  // A bijection of the flow number in the source address keeps any two flows' five-tuples apart.
  if (tuple.ipv6) {
    static constexpr std::uint8_t kPrefix[4] = {0x20, 0x01, 0x0D, 0xB8};  // 2001:db8::/32, for documentation
    const std::uint64_t source = SplitMix64::mix(flow ^ seed_ << 32);
    std::memcpy(tuple.source, kPrefix, sizeof kPrefix);
    std::memcpy(tuple.source + 8, &source, 8);
    std::memcpy(tuple.destination, kPrefix, sizeof kPrefix);
    std::memcpy(tuple.destination + 8, &destination, 8);
  } else {
    const std::uint32_t source = scramble(static_cast<std::uint32_t>(flow + seed_));
    std::memcpy(tuple.source, &source, 4);
    std::memcpy(tuple.destination, &destination, 4);
  }
  std::memcpy(tuple.source_port, &ports, 2);
  std::memcpy(tuple.destination_port, reinterpret_cast<const char*>(&ports) + 2, 2);
  if (back) {
    std::swap(tuple.source, tuple.destination);
    std::swap(tuple.source_port, tuple.destination_port);
  }
  return tuple;
}

}  // namespace parshall
