// SPDX-License-Identifier: Apache-2.0
#include "lab/parse/frame_memory.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/random.hpp"
#include "traffic/traffic.hpp"

namespace parshall::lab {
namespace {

constexpr std::size_t kVlanTagBytes = 4, kFrameAlignment = 64;

constexpr FrameKind kKinds[] = {
    {"ipv4", "Ethernet, IPv4, TCP or UDP", false, false},
    {"ipv6", "Ethernet, IPv6, TCP or UDP", true, false},
    {"vlan", "Ethernet, a VLAN tag, IPv4, TCP or UDP", false, true},
};

/// Writes a frame. Source: IEEE 802.1Q, clause 9: the tag follows the addresses.
void write_frame(std::uint8_t* to, const std::uint8_t* frame, std::size_t bytes, bool tagged) {
  constexpr std::size_t kAddressBytes = 12;
  constexpr std::uint8_t kTag[kVlanTagBytes] = {0x81, 0x00, 0x00, 0x2A};
  const std::size_t behind = kAddressBytes + (tagged ? kVlanTagBytes : 0);
  std::memcpy(to, frame, kAddressBytes);
  if (tagged) std::memcpy(to + kAddressBytes, kTag, kVlanTagBytes);
  std::memcpy(to + behind, frame + kAddressBytes, bytes - kAddressBytes);
}

}  // namespace

std::span<const FrameKind> frame_kinds() noexcept { return kKinds; }

Result<FrameMemory> FrameMemory::make(const FrameKind& kind, std::size_t bytes, std::uint64_t seed) {
  constexpr std::size_t kFlows = 65536;
  const auto flows =
      Trace::make({.flows = kFlows, .ipv6_share = kind.ipv6 ? 1.0 : 0.0, .seed = seed, .packets = kFlows});
  if (!flows) return flows.error();
  FrameMemory memory;
  memory.frame_bytes_ = flows->longest_frame() + static_cast<std::uint32_t>(kind.tagged ? kVlanTagBytes : 0);
  memory.stride_ = (memory.frame_bytes_ + kFrameAlignment - 1) / kFrameAlignment * kFrameAlignment;
  memory.frames_ = HugeBuffer<std::uint8_t>(std::max(bytes, kLeastBytes) / memory.stride_ * memory.stride_);
  SplitMix64 random(~seed);
  for (std::size_t i = 0; i < memory.frames(); ++i)
    write_frame(memory.frames_.data() + i * memory.stride_, flows->frame(random.below(kFlows)), flows->longest_frame(),
                kind.tagged);
  return memory;
}

FrameWalk::FrameWalk(const FrameMemory& memory, std::size_t begin) noexcept
    : memory_(&memory),
      frames_(memory.frames()),
      step_(static_cast<std::size_t>(0.618 * static_cast<double>(frames_))),
      bytes_(memory.frame_bytes()) {
  while (std::gcd(step_, frames_) != 1) ++step_;
  at_ = static_cast<std::size_t>(static_cast<unsigned __int128>(begin) * step_ % frames_);
}

}  // namespace parshall::lab
