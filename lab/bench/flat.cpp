// SPDX-License-Identifier: Apache-2.0
#include "flat.hpp"

#include <array>
#include <bit>
#include <cstring>

#include "base/huge_buffer.hpp"
#include "base/keyed_hash.hpp"
#include "base/simd.hpp"
#include "pipeline/flow/bucketed_table.hpp"

namespace parshall::bench {
namespace {

struct Key {
  std::uint64_t addresses, rest;  ///< rest: ports and protocol; never 0
};

template <class T>
T load(const std::uint8_t* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// Reads Ethernet, IPv4 without options or fragments, and TCP or UDP, with a single test that does not branch on the
/// payload.
[[gnu::always_inline]] inline bool read_headers(const std::uint8_t* frame, Key& key, std::uint32_t& ip_bytes) noexcept {
  const auto from_type = load<std::uint64_t>(frame + 12), from_length = load<std::uint64_t>(frame + 16);
  const std::uint64_t protocol = from_length >> 56;
  constexpr std::uint64_t kTcpOrUdp = 1 << 6 | 1 << 17;
  const std::uint64_t odd = ((from_type ^ 0x450008) & 0xffffff) | (from_length >> 32 & 0xff3f) | protocol >> 6 |
                            (~(kTcpOrUdp >> (protocol & 63)) & 1);
  if (odd != 0) [[unlikely]]
    return false;
  key = {load<std::uint64_t>(frame + 26), load<std::uint32_t>(frame + 34) | protocol << 32};
  ip_bytes = __builtin_bswap16(static_cast<std::uint16_t>(from_type >> 32));
  return true;
}

struct NoTable {
  explicit NoTable(std::size_t) {}
  void prefetch(std::uint64_t) noexcept {}
  [[gnu::always_inline]] void add(const Key& key, std::uint64_t hash, std::uint32_t bytes, std::uint32_t) noexcept {
    sum_ += hash ^ key.addresses ^ bytes;
    asm volatile("" : : "r"(sum_));
  }
  std::uint64_t counted() const noexcept { return 0; }

 private:
  std::uint64_t sum_ = 0;
};

class TagLines {
 public:
  explicit TagLines(std::size_t flows) : lines_(flows / 2), keys_(flows * 2) {}

  void prefetch(std::uint64_t hash) noexcept { prefetch_line(&lines_[hash & (lines_.size() - 1)]); }

  [[gnu::always_inline]] void add(const Key& key, std::uint64_t hash, std::uint32_t bytes, std::uint32_t now) noexcept {
    const auto tag = static_cast<std::uint32_t>(hash >> 32) | 1;
    for (std::uint64_t at = hash & (lines_.size() - 1);; at = (at + 1) & (lines_.size() - 1)) {
      Line& line = lines_[at];
      const simd::Bytes16 tags = simd::load(line.tag);
      if (const unsigned found = where(tags, simd::all(tag)); found != 0) [[likely]] {
        const int slot = std::countr_zero(found);
        ++line.packets[slot];
        line.bytes[slot] += bytes;
        line.last[slot] = now;
        return;
      }
      if (const unsigned room = where(tags, simd::Bytes16{}); room != 0) {
        const int slot = std::countr_zero(room);
        line.tag[slot] = tag;
        line.packets[slot] = 1;
        line.bytes[slot] = bytes;
        line.last[slot] = now;
        keys_[at * 4 + static_cast<std::size_t>(slot)] = key;
        return;
      }
    }
  }

  std::uint64_t counted() const noexcept {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < lines_.size(); ++i)
      for (const std::uint32_t packets : lines_[i].packets) sum += packets;
    return sum;
  }

 private:
  struct alignas(64) Line {
    std::uint32_t tag[4], packets[4], bytes[4], last[4];
  };
  static unsigned where(simd::Bytes16 words, simd::Bytes16 word) noexcept {
    return simd::mask_of_words32(simd::equal<std::uint32_t>(words, word));
  }

  HugeBuffer<Line> lines_;
  HugeBuffer<Key> keys_;
};

#ifdef __AVX512F__
class KeyLines {
 public:
  explicit KeyLines(std::size_t flows) : buckets_(flows / 2) {}

  void prefetch(std::uint64_t hash) noexcept {
    const Bucket& bucket = buckets_[hash & (buckets_.size() - 1)];
    prefetch_line(bucket.keys);
    prefetch_line(bucket.counts);
  }

  [[gnu::always_inline]] void add(const Key& key, std::uint64_t hash, std::uint32_t bytes, std::uint32_t now) noexcept {
    const __m512i wanted = _mm512_broadcast_i64x2(simd::words(key.addresses, key.rest));
    for (std::uint64_t at = hash & (buckets_.size() - 1);; at = (at + 1) & (buckets_.size() - 1)) {
      Bucket& bucket = buckets_[at];
      const __m512i keys = _mm512_load_si512(bucket.keys);
      unsigned equal = _mm512_cmpeq_epi64_mask(keys, wanted);
      equal &= equal >> 1 & 0x55;
      if (equal != 0) [[likely]] {
        Counts& counts = bucket.counts[std::countr_zero(equal) / 2];
        ++counts.packets;
        counts.bytes += bytes;
        counts.last = now;
        return;
      }
      if (const unsigned room = _mm512_testn_epi64_mask(keys, keys) & 0xaa; room != 0) {
        const int slot = std::countr_zero(room) / 2;
        bucket.keys[slot] = key;
        bucket.counts[slot] = {1, now, bytes};
        return;
      }
    }
  }

  std::uint64_t counted() const noexcept {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < buckets_.size(); ++i)
      for (const Counts& counts : buckets_[i].counts) sum += counts.packets;
    return sum;
  }

 private:
  struct Counts {
    std::uint32_t packets, last;
    std::uint64_t bytes;
  };
  struct alignas(128) Bucket {
    Key keys[4];
    Counts counts[4];
  };

  HugeBuffer<Bucket> buckets_;
};
#endif

template <class Table>
class Loop final : public FlatLoop {
 public:
  explicit Loop(const FlatInput& input)
      : trace_(input.trace), table_(input.flows), hash_(input.seed), next_(input.begin) {}

  void run(std::size_t packets) override {
    constexpr std::size_t kAhead = 16, kFramesAhead = 16, kRing = 32;
    struct Waiting {
      Key key;
      std::uint64_t hash;
      std::uint32_t bytes;
    };
    std::array<Waiting, kRing> ring;
    const std::uint8_t* const frames = trace_->frame(0);
    const std::size_t stride = trace_->stride(), mask = trace_->packets() - 1;
    const auto take = [&](std::size_t i) {
      prefetch_line(frames + ((i + kFramesAhead) & mask) * stride);
      Key key{0, 0};
      std::uint32_t bytes = 0;
      read_headers(frames + (i & mask) * stride, key, bytes);
      const std::uint64_t hash = hash_(simd::words(key.addresses, key.rest));
      ring[i % kRing] = {key, hash, bytes};
      table_.prefetch(hash);
    };
    const std::size_t end = next_ + packets;
    for (std::size_t i = next_; i < next_ + kAhead; ++i) take(i);
    for (std::size_t i = next_; i < end; ++i) {
      take(i + kAhead);
      const Waiting& now = ring[i % kRing];
      table_.add(now.key, now.hash, now.bytes, static_cast<std::uint32_t>(i));
    }
    next_ = end;
  }

  std::uint64_t counted() const override { return table_.counted(); }

 private:
  std::shared_ptr<const Trace> trace_;
  Table table_;
  KeyedHash hash_;
  std::size_t next_;
};

}  // namespace

std::unique_ptr<FlatLoop> make_flat_parse(const FlatInput& input) { return std::make_unique<Loop<NoTable>>(input); }
std::unique_ptr<FlatLoop> make_flat_fingerprint(const FlatInput& input) {
  return std::make_unique<Loop<TagLines>>(input);
}
std::unique_ptr<FlatLoop> make_flat_exact([[maybe_unused]] const FlatInput& input) {
#ifdef __AVX512F__
  return std::make_unique<Loop<KeyLines>>(input);
#else
  return nullptr;
#endif
}

}  // namespace parshall::bench
