// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/statistics/first_payloads.hpp"

#include <algorithm>

#include "pipeline/decode/application/payload.hpp"

namespace parshall {

static_assert(FirstPayloads::kPlaceBytes % 8 == 0);

void FirstPayloads::begin(std::byte* row) const noexcept {
  const State state{.is_open = true};
  std::memcpy(row, &state, sizeof state);
}

void FirstPayloads::read(std::byte* at, std::byte* carries, const RawPacket& packet, IpHeader header) const noexcept {
  State state = state_of(at);
  if (Payload payload; read_payload(packet, header, payload) && !payload.bytes.empty()) {
    std::byte* const place = carries + state.payloads++ * kPlaceBytes;
    const std::size_t bytes = std::min(payload.bytes.size(), kMostText);
    *place = static_cast<std::byte>(bytes);
    std::memcpy(place + 1, payload.bytes.data(), bytes);
  }
  state.is_open = ++state.packets < kPackets && state.payloads < payloads_;
  std::memcpy(at, &state, sizeof state);
}

void FirstPayloads::write_row(const std::byte* at, const std::byte* carries, std::byte* row) const noexcept {
  const std::size_t known = state_of(at).payloads;
  for (std::size_t i = 0; i < payloads_; ++i) {
    const std::size_t from = i * kPlaceBytes;
    row[from] = std::byte{0};
    if (i < known) std::memcpy(row + from, carries + from, 1 + std::to_integer<std::size_t>(carries[from]));
  }
}

void FirstPayloads::merge(std::byte* into, const std::byte* from) const noexcept {
  if (payload(into, 0).empty()) std::memcpy(into, from, row_bytes());
}

}  // namespace parshall
