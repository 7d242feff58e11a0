// SPDX-License-Identifier: Apache-2.0
#include "traffic/flow_tuples.hpp"

#include <cstring>
#include <utility>

#include "traffic/benchmark_addresses.hpp"
#include "traffic/frame.hpp"

namespace parshall {
namespace {

constexpr std::uint8_t kDynamic = 0xC0;  ///< first byte of dynamic ports, from 49152 on

/// Permutes 32 bits: two rounds of xor-shift and odd multiplication.
std::uint32_t scramble(std::uint32_t x) noexcept {
  x = (x ^ x >> 16) * 0x7FEB352Du;
  x = (x ^ x >> 15) * 0x846CA68Bu;
  return x ^ x >> 16;
}

/// Writes an address of `prefix_bytes` bytes of a prefix and an interface identifier.
void put_ipv6(std::uint8_t* address, const std::uint8_t* prefix, std::size_t prefix_bytes, std::uint64_t id) noexcept {
  std::memcpy(address, prefix, prefix_bytes);
  std::memcpy(address + 8, &id, sizeof id);
}

}  // namespace

FlowTuple FlowTuples::operator()(std::uint64_t flow) const noexcept {
  FlowTuple tuple = one_way(connected_ ? flow & ~std::uint64_t{1} : flow);
  if (connected_ && (flow & 1) != 0) {
    std::swap(tuple.source, tuple.destination);
    std::swap(tuple.source_port, tuple.destination_port);
  }
  return tuple;
}

FlowTuple FlowTuples::one_way(std::uint64_t flow) const noexcept {
  SplitMix64 random(SplitMix64::mix(seed_) ^ SplitMix64::mix(flow + 1));
  FlowTuple tuple;
  tuple.ipv6 = random.uniform() < ipv6_share_;
  tuple.tcp = protocol_ == ProtocolMix::tcp || connected_ || (protocol_ == ProtocolMix::mix && flow % 4 != 3);
  if (addresses_ == AddressKind::benchmark)
    address_for_benchmarks(tuple, flow, random);
  else
    address_randomly(tuple, flow, random);
  return tuple;
}

// In both cases, a permutation of the flow number keeps the five-tuples of any two flows different.

void FlowTuples::address_randomly(FlowTuple& tuple, std::uint64_t flow, SplitMix64 random) const noexcept {
  const std::uint64_t destination = random(), ports = random();
  if (tuple.ipv6) {
    static constexpr std::uint8_t kPrefix[4] = {0x20, 0x01, 0x0D, 0xB8};  // 2001:db8::/32, for documentation
    put_ipv6(tuple.source, kPrefix, sizeof kPrefix, SplitMix64::mix(flow ^ seed_ << 32));
    put_ipv6(tuple.destination, kPrefix, sizeof kPrefix, destination);
  } else {
    const std::uint32_t source = scramble(static_cast<std::uint32_t>(flow + seed_));
    std::memcpy(tuple.source, &source, 4);
    std::memcpy(tuple.destination, &destination, 4);
  }
  std::memcpy(tuple.source_port, &ports, 2);
  std::memcpy(tuple.destination_port, reinterpret_cast<const char*>(&ports) + 2, 2);
  if (!connected_) return;
  tuple.source_port[0] |= kDynamic;
  tuple.destination_port[0] |= kDynamic;
}

void FlowTuples::address_for_benchmarks(FlowTuple& tuple, std::uint64_t flow, SplitMix64 random) const noexcept {
  using To = BenchmarkAddresses;
  const std::uint64_t ports = connected_ ? To::kDynamicPorts : To::kPorts, sources = To::kHosts * ports;
  const auto port = [this](std::uint64_t number) { return connected_ ? To::dynamic_port(number) : To::port(number); };
  std::uint64_t source_port = random.below(ports);
  if (tuple.ipv6) {
    put_ipv6(tuple.source, To::kIpv6Source, 8, SplitMix64::mix(flow ^ seed_ << 32));
    put_ipv6(tuple.destination, To::kIpv6Destination, 8, random());
  } else {
    const std::uint64_t number = (flow + seed_ % sources) % sources;
    const std::uint64_t source = connected_ ? scramble_below<30, To::kHosts * To::kDynamicPorts>(number)
                                            : scramble_below<32, To::kHosts * To::kPorts>(number);
    source_port = source / To::kHosts;
    put32(tuple.source, To::source(source % To::kHosts));
    put32(tuple.destination, To::destination(1 + random.below(To::kHosts - 1)));  // host 0 is the target of floods
  }
  put16(tuple.source_port, port(source_port));
  put16(tuple.destination_port, port(random.below(ports)));
}

}  // namespace parshall
