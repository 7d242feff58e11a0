// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstring>
#include <utility>

#include "pipeline/decode/facts.hpp"

namespace parshall {

/// Returns the key of the opposite direction.
inline FlowKey opposite(const FlowKey& flow) noexcept {
  const std::size_t bytes = flow.address_bytes();
  FlowKey key = flow;
  key.src_port_bytes = flow.dst_port_bytes;
  key.dst_port_bytes = flow.src_port_bytes;
  std::memcpy(key.address.data(), flow.address.data() + bytes, bytes);
  std::memcpy(key.address.data() + bytes, flow.address.data(), bytes);
  return key;
}

/// Returns the key that both directions of a five-tuple flow share, and which of its two ends the flow is from.
inline std::pair<FlowKey, std::uint8_t> both_ways(const FlowKey& flow) noexcept {
  const std::size_t bytes = flow.address_bytes();
  int order = std::memcmp(flow.address.data(), flow.address.data() + bytes, bytes);
  if (order == 0) order = std::memcmp(flow.src_port_bytes.data(), flow.dst_port_bytes.data(), 2);
  return order <= 0 ? std::pair(flow, std::uint8_t{0}) : std::pair(opposite(flow), std::uint8_t{1});
}

}  // namespace parshall
