// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstring>
#include <utility>

#include "pipeline/decode/facts.hpp"

namespace parshall {

/// The key that a five-tuple flow has in common with its opposite direction, and which of its two ends it is from.
inline std::pair<FlowKey, std::uint8_t> both_ways(const FlowKey& flow) noexcept {
  const std::size_t bytes = flow.address_bytes();
  int order = std::memcmp(flow.address.data(), flow.address.data() + bytes, bytes);
  if (order == 0) order = std::memcmp(flow.src_port_bytes.data(), flow.dst_port_bytes.data(), 2);
  if (order <= 0) return {flow, 0};
  FlowKey key = flow;
  key.src_port_bytes = flow.dst_port_bytes;
  key.dst_port_bytes = flow.src_port_bytes;
  std::memcpy(key.address.data(), flow.address.data() + bytes, bytes);
  std::memcpy(key.address.data() + bytes, flow.address.data(), bytes);
  return {key, 1};
}

}  // namespace parshall
