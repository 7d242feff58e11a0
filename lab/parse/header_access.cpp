// SPDX-License-Identifier: Apache-2.0
#include "lab/parse/header_access.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/prefetch.hpp"
#include "pipeline/decode/fast_path.hpp"
#include "pipeline/flow/front_end.hpp"

namespace parshall::lab {
namespace {

/// A key in registers, as it is read.
struct KeyWords {
  std::uint64_t names = 0;  ///< ports, protocol, IP version
  std::array<std::uint64_t, 4> addresses{};
};

KeyWords words_of(const FlowKey& key) noexcept {
  const auto words = std::bit_cast<KeyWords>(key);
  if (key.ip_version == 6) return words;
  return {.names = words.names, .addresses = {words.addresses[0]}};
}

/// Uses the result in a few instructions that depend on all of it.
std::uint64_t digest(const KeyWords& words) noexcept {
  return words.names + words.addresses[0] + words.addresses[1] + words.addresses[2] + words.addresses[3];
}
std::uint64_t digest(const FlowKey& key) noexcept { return digest(words_of(key)); }
std::uint64_t digest(const PacketFacts& facts) noexcept { return facts.hash; }

FlowKey key_of(const KeyWords& words) noexcept { return std::bit_cast<FlowKey>(words); }
const FlowKey& key_of(const FlowKey& key) noexcept { return key; }
const FlowKey& key_of(const PacketFacts& facts) noexcept { return facts.key; }

bool is_vlan(std::uint16_t type) noexcept {
  return type == __builtin_bswap16(0x8100) || type == __builtin_bswap16(0x88a8);
}

/// Reads a frame without checks: complete, TCP or UDP over IPv4 or IPv6 without extension headers, with at most two
/// VLAN tags.
template <HeaderFields kFields>
KeyWords read_trusted(const std::uint8_t* data) noexcept {
  constexpr std::size_t kTagBytes = 4;
  const std::uint8_t* type_at = data + 12;
  auto type = load_unaligned<std::uint16_t>(type_at);
  for (int tags = 0; tags < 2 && is_vlan(type); ++tags) type = load_unaligned<std::uint16_t>(type_at += kTagBytes);
  const std::uint8_t* const ip = type_at + 2;
  KeyWords words;
  const std::uint8_t* ports;
  std::uint64_t version, protocol;
  if (type == __builtin_bswap16(0x0800)) {
    std::memcpy(words.addresses.data(), ip + 12, 8);
    ports = ip + (ip[0] & 0xF) * std::size_t{4};
    version = 4, protocol = ip[9];
  } else if (type == __builtin_bswap16(0x86DD)) {
    std::memcpy(words.addresses.data(), ip + 8, 32);
    ports = ip + 40;
    version = 6, protocol = ip[6];
  } else {
    return words;
  }
  words.names = version << 40;
  if constexpr (kFields >= HeaderFields::ports) words.names |= load_unaligned<std::uint32_t>(ports);
  if constexpr (kFields >= HeaderFields::five_tuple) words.names |= protocol << 32;
  return words;
}

/// Base of the methods: each calls `take(i, found)` for the packets of a group, one after another.
class FromDescriptor {
 public:
  explicit FromDescriptor(std::uint64_t) noexcept {}
  template <class Take>
  void read(std::span<const RawPacket> group, Take take) noexcept {
    for (std::size_t i = 0; i < group.size(); ++i) take(i, KeyWords{.names = group[i].nic_hash});
  }
};

template <HeaderFields kFields>
class Trusting {
 public:
  explicit Trusting(std::uint64_t) noexcept {}
  template <class Take>
  void read(std::span<const RawPacket> group, Take take) noexcept {
    for (std::size_t i = 0; i < group.size(); ++i) take(i, read_trusted<kFields>(group[i].data));
  }
};

class ByFrontEnd {
 public:
  explicit ByFrontEnd(std::uint64_t seed) noexcept
      : front_(IpHeader::outermost, FlowIdentity(KeyFields::five_tuple, Identity::exact, seed), Partition{},
               std::nullopt) {}
  template <class Take>
  void read(std::span<const RawPacket> group, Take take) noexcept {
    const std::size_t fresh = front_.accept(group, window_);
    std::size_t i = 0;
    window_.visit_newest(fresh, [&](const PacketFacts& facts) { take(i++, facts); });
    window_.pop(fresh);
  }

 private:
  FrontEnd front_;
  InFlight window_;
};

class ByGeneralDecoder {
 public:
  explicit ByGeneralDecoder(std::uint64_t) noexcept {}
  template <class Take>
  void read(std::span<const RawPacket> group, Take take) noexcept {
    for (std::size_t i = 0; i < group.size(); ++i)
      if (decode_any(group[i], IpHeader::outermost, facts_[i]) != Verdict::counted) facts_[i].key = {};
    for (std::size_t i = 0; i < group.size(); ++i) take(i, facts_[i].key);
  }

 private:
  std::array<PacketFacts, kGroup> facts_;
};

template <class Method, bool kPrefetch>
class Reader final : public HeaderReader {
 public:
  explicit Reader(std::uint64_t seed) noexcept : method_(seed) {}

  void read(std::span<const RawPacket> packets) noexcept override {
    std::uint64_t sum = 0;
    each(packets, [&](std::size_t, const auto& found) { sum += digest(found); });
    asm volatile("" : : "r"(sum));
  }
  void keys(std::span<const RawPacket> packets, std::span<FlowKey> keys) noexcept override {
    each(packets, [&](std::size_t i, const auto& found) { keys[i] = key_of(found); });
  }

 private:
  static constexpr std::size_t kAhead = 4 * kGroup;  ///< headers are prefetched this early, as in TableStage

  template <class Take>
  [[gnu::always_inline]] void each(std::span<const RawPacket> packets, Take take) noexcept {
    if (kPrefetch) ask(packets, 0, kAhead);
    for (std::size_t at = 0; at < packets.size(); at += kGroup) {
      method_.read(packets.subspan(at, std::min(kGroup, packets.size() - at)),
                   [&](std::size_t i, const auto& found) { take(at + i, found); });
      if (kPrefetch) ask(packets, at + kAhead, kGroup);
    }
  }

  static void ask(std::span<const RawPacket> packets, std::size_t at, std::size_t count) noexcept {
    for (std::size_t i = at; i < std::min(at + count, packets.size()); ++i) prefetch_line(packets[i].data);
  }

  Method method_;
};

template <class Method>
std::unique_ptr<HeaderReader> make(bool prefetch, std::uint64_t seed) {
  if (prefetch) return std::make_unique<Reader<Method, true>>(seed);
  return std::make_unique<Reader<Method, false>>(seed);
}

constexpr HeaderAccess kAccesses[] = {
    {"descriptor", "no byte of the packet, only its descriptor with the device's hash", HeaderFields::none,
     make<FromDescriptor>},
    {"addresses", "IP addresses, trusting the headers", HeaderFields::addresses,
     make<Trusting<HeaderFields::addresses>>},
    {"ports", "IP addresses and ports, trusting the headers", HeaderFields::ports, make<Trusting<HeaderFields::ports>>},
    {"five-tuple", "addresses, ports and protocol, trusting the headers", HeaderFields::five_tuple,
     make<Trusting<HeaderFields::five_tuple>>},
    {"hashed", "five-tuple and keyed hash by the monitor's front end, in groups of eight", HeaderFields::five_tuple,
     make<ByFrontEnd>},
    {"general", "five-tuple by the general decoder, which takes any packet", HeaderFields::five_tuple,
     make<ByGeneralDecoder>},
};

}  // namespace

std::span<const HeaderAccess> header_accesses() noexcept { return kAccesses; }

}  // namespace parshall::lab
