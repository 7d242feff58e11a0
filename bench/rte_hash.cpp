// SPDX-License-Identifier: Apache-2.0
#include <rte_eal.h>
#include <rte_hash.h>

#include <array>
#include <cstring>

#include "base/huge_buffer.hpp"
#include "pipeline/decode/fast_path.hpp"
#include "pipeline/flow/identity.hpp"
#include "rivals.hpp"

namespace parshall::bench {
namespace {

constexpr std::size_t kBulk = 64;

const FlowIdentity* identity_of_hash = nullptr;

/// rte_hash hands over no state; the key is the 16-byte head.
std::uint32_t hash_of(const void* key, std::uint32_t, std::uint32_t) {
  PacketFacts facts;
  identity_of_hash->ipv4(_mm_loadu_si128(static_cast<const __m128i*>(key)), facts);
  return static_cast<std::uint32_t>(facts.hash);
}

bool start_eal() {
  static const bool started = [] {
    const std::string lcores = "0@" + std::to_string(sched_getcpu());
    const char* const arguments[] = {"bench",    "--no-shconf",    "--no-huge",     "-m",       "1024",
                                     "--no-pci", "--no-telemetry", "--log-level=1", "--lcores", lcores.c_str()};
    std::array<char*, std::size(arguments)> argv;
    for (std::size_t i = 0; i < argv.size(); ++i) argv[i] = const_cast<char*>(arguments[i]);
    cpu_set_t before;
    sched_getaffinity(0, sizeof before, &before);
    const bool ok = rte_eal_init(static_cast<int>(argv.size()), argv.data()) >= 0;
    sched_setaffinity(0, sizeof before, &before);
    return ok;
  }();
  return started;
}

class RteHash final : public Rival {
 public:
  RteHash(rte_hash* table, std::size_t flows, std::uint64_t seed)
      : table_(table), identity_(KeyFields::five_tuple, Identity::exact, seed), counters_(2 * flows + kBulk) {
    identity_of_hash = &identity_;
  }
  ~RteHash() override { rte_hash_free(table_); }

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
        _mm_store_si128(reinterpret_cast<__m128i*>(&facts[count].key), header.key_head);
        facts[count].time_ns = packet.time_ns;
        facts[count].counts = header.counts;
        keys[count] = &facts[count].key;
        ++count;
      }
      rte_hash_lookup_bulk(table_, keys.data(), static_cast<std::uint32_t>(count), places.data());
      for (std::size_t i = 0; i < count; ++i)
        if (places[i] >= 0) __builtin_prefetch(&counters_[static_cast<std::size_t>(places[i])], 1);
      for (std::size_t i = 0; i < count; ++i) {
        std::int32_t place = places[i];
        if (place < 0) place = rte_hash_add_key(table_, keys[i]);
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
  rte_hash* table_;
  FlowIdentity identity_;
  HugeBuffer<Counters> counters_;
  std::uint64_t counted_ = 0;
};

}  // namespace

std::unique_ptr<Rival> make_rte_hash(std::size_t flows, std::uint64_t seed) {
  if (!start_eal()) return nullptr;
  rte_hash_parameters parameters{};
  parameters.name = "rival";
  parameters.entries = static_cast<std::uint32_t>(flows + flows / 2);
  parameters.key_len = FlowKey::kHeadBytes;
  parameters.hash_func = hash_of;
  parameters.socket_id = SOCKET_ID_ANY;
  rte_hash* const table = rte_hash_create(&parameters);
  if (table == nullptr) return nullptr;
  return std::make_unique<RteHash>(table, flows, seed);
}

}  // namespace parshall::bench
