// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/application/quic_frames.hpp"

#include <cstring>

#include "pipeline/decode/application/cursor.hpp"

namespace parshall {
namespace {

enum FrameType : std::uint8_t { padding = 0, ping = 1, ack = 2, ack_with_ecn = 3, crypto_data = 6, close = 0x1c };

/// Returns how many bytes of padding there are at the front: some 900 in most packets.
std::size_t padding_bytes(std::span<const std::uint8_t> rest) noexcept {
  std::size_t count = 0;
  for (std::uint64_t word; count + sizeof word <= rest.size(); count += sizeof word) {
    std::memcpy(&word, rest.data() + count, sizeof word);
    if (word != 0) break;
  }
  while (count < rest.size() && rest[count] == padding) ++count;
  return count;
}

void skip_ack(Cursor& in, bool has_ecn_counts) noexcept {
  in.varint();  // largest acknowledged
  in.varint();  // delay
  std::uint64_t ranges = in.varint();
  in.varint();  // first range
  for (; ranges != 0 && !in.failed(); --ranges) {
    in.varint();
    in.varint();
  }
  for (int i = 0; i < (has_ecn_counts ? 3 : 0); ++i) in.varint();
}

void read_crypto(Cursor& in, FirstBytes& crypto) noexcept {
  const std::uint64_t offset = in.varint();
  const std::span<const std::uint8_t> data = in.take(in.varint());
  if (offset < FirstBytes::kBytes) crypto.insert(static_cast<std::uint32_t>(offset), data);
}

}  // namespace

bool read_initial_frames(std::span<const std::uint8_t> payload, FirstBytes& crypto) noexcept {
  for (Cursor in(payload); !in.empty();) {
    switch (in.u8()) {
      case padding:
        in.take(padding_bytes(in.rest()));
        break;
      case ping:
        break;
      case ack:
        skip_ack(in, false);
        break;
      case ack_with_ecn:
        skip_ack(in, true);
        break;
      case crypto_data:
        read_crypto(in, crypto);
        break;
      case close:
        in.varint();           // error
        in.varint();           // type of the frame that is to blame
        in.take(in.varint());  // reason
        break;
      default:
        return false;
    }
    if (in.failed()) return false;
  }
  return true;
}

}  // namespace parshall
