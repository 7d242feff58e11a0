// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "base/huge_buffer.hpp"
#include "base/simd.hpp"
#include "lab/dpdk/rte_hash_index.hpp"
#include "pipeline/decode/fast_path.hpp"
#include "pipeline/flow/identity.hpp"
#include "rivals.hpp"

namespace parshall::bench {
namespace {

constexpr std::size_t kBulk = lab::RteHashIndex::kBulk;

const FlowIdentity* identity_of_hash = nullptr;

/// Hashes the key, which is the 16-byte head; rte_hash passes no other state.
std::uint32_t hash_of(const void* key, std::uint32_t, std::uint32_t) {
  PacketFacts facts;
  identity_of_hash->ipv4(simd::load(key), facts);
  return static_cast<std::uint32_t>(facts.hash);
}

class RteHash final : public Rival {
 public:
  RteHash(std::size_t flows, std::uint64_t seed)
      : index_(flows + flows / 2, FlowKey::kHeadBytes, seed, hash_of),
        identity_(KeyFields::five_tuple, Identity::exact, seed),
        counters_(index_.numbers()) {
    identity_of_hash = &identity_;
  }

  void run(PacketSource& source, std::size_t packets) override {
    std::array<RawPacket, kBulk> batch;
    std::array<PacketFacts, kBulk> facts;
    std::array<const void*, kBulk> keys;
    std::array<std::int32_t, kBulk> places;
    for (std::size_t done = 0; done < packets;) {
      const std::size_t polled = source.poll(batch);
      std::size_t count = 0;
      for (const RawPacket& packet : std::span(batch).first(polled)) {
        FastHeader header;
        if (!decode_fast(packet, header)) continue;
        simd::store(&facts[count].key, header.key_head);
        facts[count].time_ns = packet.time_ns;
        facts[count].counts = header.counts;
        keys[count] = &facts[count].key;
        ++count;
      }
      index_.find(std::span(keys).first(count), places);
      for (std::size_t i = 0; i < count; ++i)
        if (places[i] >= 0) __builtin_prefetch(&counters_[static_cast<std::size_t>(places[i])], 1);
      for (std::size_t i = 0; i < count; ++i) {
        std::int32_t place = places[i];
        if (place < 0) place = index_.insert(keys[i]);
        if (place < 0) continue;
        Counters& counters = counters_[static_cast<std::size_t>(place)];
        counters.counts = CountWord(counters.counts.bits() + facts[i].counts.bits());
        counters.last_ns = facts[i].time_ns;
        ++counted_;
      }
      done += polled;
    }
  }

  std::uint64_t counted() const override { return counted_; }

 private:
  struct Counters {
    CountWord counts;
    std::uint64_t last_ns;
  };
  lab::RteHashIndex index_;
  FlowIdentity identity_;
  HugeBuffer<Counters> counters_;
  std::uint64_t counted_ = 0;
};

}  // namespace

std::unique_ptr<Rival> make_rte_hash(std::size_t flows, std::uint64_t seed) {
  if (!lab::RteHashIndex::available()) return nullptr;
  return std::make_unique<RteHash>(flows, seed);
}

}  // namespace parshall::bench
