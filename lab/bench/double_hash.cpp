// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>

#include "base/huge_buffer.hpp"
#include "base/keyed_hash.hpp"
#include "base/simd.hpp"
#include "rivals.hpp"

namespace parshall::bench {
namespace {

struct FiveTuple {
  std::uint32_t src, dst;
  std::uint16_t src_port, dst_port;
  std::uint8_t protocol;
};

std::uint16_t be16(const std::uint8_t* at) { return static_cast<std::uint16_t>(at[0] << 8 | at[1]); }

bool read_headers(const RawPacket& packet, FiveTuple& tuple) {
  const std::uint8_t* const frame = packet.data;
  if (be16(frame + 12) != 0x0800 || frame[14] >> 4 != 4) return false;
  const std::uint32_t header_bytes = (frame[14] & 15u) * 4;
  tuple.protocol = frame[23];
  std::memcpy(&tuple.src, frame + 26, 4);
  std::memcpy(&tuple.dst, frame + 30, 4);
  tuple.src_port = tuple.dst_port = 0;
  if (tuple.protocol == 6 || tuple.protocol == 17) {
    std::memcpy(&tuple.src_port, frame + 14 + header_bytes, 2);
    std::memcpy(&tuple.dst_port, frame + 14 + header_bytes + 2, 2);
  }
  return true;
}

class OurHash {
 public:
  explicit OurHash(std::uint64_t seed) : hash_(seed) {}
  std::uint32_t operator()(const FiveTuple& tuple) const noexcept {
    const std::uint32_t ports = std::uint32_t{tuple.dst_port} << 16 | tuple.src_port;
    return static_cast<std::uint32_t>(
        hash_(simd::words(std::uint64_t{tuple.protocol} << 32 | ports, std::uint64_t{tuple.dst} << 32 | tuple.src)));
  }

 private:
  KeyedHash hash_;
};

/// Computes the hash bit by bit over the 12 bytes of addresses and ports. Source: Microsoft, "RSS hashing functions",
/// NDIS documentation; the key is FloWatcher's.
class Toeplitz {
 public:
  std::uint32_t operator()(const FiveTuple& tuple) const noexcept {
    std::array<std::uint8_t, 12> input;
    std::memcpy(input.data(), &tuple.src, 8);
    std::memcpy(input.data() + 8, &tuple.src_port, 2);
    std::memcpy(input.data() + 10, &tuple.dst_port, 2);
    std::uint32_t result = 0, window = 0x6d5a56da;
    for (std::size_t i = 0; i < input.size(); ++i)
      for (int bit = 7; bit >= 0; --bit) {
        if (input[i] >> bit & 1) result ^= window;
        window = window << 1 | (kKey[i + 4] >> bit & 1u);
      }
    return result;
  }

 private:
  static constexpr std::array<std::uint8_t, 16> kKey{0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2,
                                                     0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0};
};

template <class Hash>
class DoubleHash final : public Rival {
 public:
  DoubleHash(std::size_t buckets, Hash hash) : buckets_(buckets), hash_(hash) {}

  void run(PacketSource& source, std::size_t packets) override {
    std::array<RawPacket, 256> batch;
    for (std::size_t done = 0; done < packets;) {
      const std::size_t count = source.poll(batch);
      for (std::size_t i = 0; i < count; ++i) {
        FiveTuple tuple;
        if (read_headers(batch[i], tuple)) add(hash_(tuple));
      }
      done += count;
    }
  }

  std::uint64_t counted() const override { return counted_; }

 private:
  struct Bucket {
    std::uint16_t tag[2];
    std::uint32_t packets[2];
  };

  void add(std::uint32_t hash) noexcept {
    Bucket& bucket = buckets_[hash & (buckets_.size() - 1)];
    const auto tag = static_cast<std::uint16_t>(hash >> 16 | 1);
    for (int i = 0; i < 2; ++i) {
      if (bucket.tag[i] != 0 && bucket.tag[i] != tag) continue;
      bucket.tag[i] = tag;
      ++bucket.packets[i];
      ++counted_;
      return;
    }
  }

  HugeBuffer<Bucket> buckets_;
  Hash hash_;
  std::uint64_t counted_ = 0;
};

}  // namespace

std::unique_ptr<Rival> make_double_hash(std::size_t buckets, std::uint64_t seed) {
  return std::make_unique<DoubleHash<OurHash>>(buckets, OurHash(seed));
}
std::unique_ptr<Rival> make_double_hash_toeplitz(std::size_t buckets) {
  return std::make_unique<DoubleHash<Toeplitz>>(buckets, Toeplitz());
}

}  // namespace parshall::bench
