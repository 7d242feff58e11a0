// SPDX-License-Identifier: Apache-2.0
#include "pipeline/capture/packet_ring.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace parshall {

PacketRing PacketRing::of(std::uint32_t longest_frame, std::uint32_t frames) {
  PacketRing ring;
  ring.frame_bytes = std::bit_ceil(std::clamp(longest_frame + kFrameOffset, 256u, 32768u));
  ring.block_bytes = std::max(ring.block_bytes, ring.frame_bytes);
  const std::uint32_t per_block = ring.block_bytes / ring.frame_bytes;
  if (frames == 0) frames = static_cast<std::uint32_t>(kUsualBytes / ring.frame_bytes);
  ring.frames = (frames + per_block - 1) / per_block * per_block;
  return ring;
}

std::string PacketRing::devargs(int number, const std::string& interface, std::uint16_t queues) const {
  return fmt::format("net_af_packet{},iface={},qpairs={},blocksz={},framesz={},framecnt={}", number, interface, queues,
                     block_bytes, frame_bytes, frames);
}

}  // namespace parshall
