// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "lab/candidate.hpp"
#include "lab/keys.hpp"
#include "lab/rolling.hpp"
#include "pipeline/flow/maps/map.hpp"

namespace parshall::lab {

/// A map of flows to packet counts.
template <FlowMap Map>
class MapCandidate final : public Candidate {
 public:
  MapCandidate(std::size_t entries, std::uint64_t seed) : hasher_{KeyedHash(seed)}, map_(entries, hasher_) {}

  void run(std::span<const std::uint32_t> flows) noexcept override {
    const LabHasher hasher = hasher_;
    InFlight<Asked> asked;
    roll(
        flows.size(),
        [&](std::size_t first, std::size_t count) {
          for (std::size_t i = first; i < first + count; ++i) {
            const LabKey key = key_of(flows[i]);
            asked[i] = {key, hasher(key)};
            map_.prefetch(asked[i].hash);
          }
        },
        [&](std::size_t first, std::size_t count) {
          if constexpr (requires { map_.prefetch_entry(0); })
            for (std::size_t i = first; i < first + count; ++i) map_.prefetch_entry(asked[i].hash);
        },
        [&](std::size_t first, std::size_t count) {
          for (std::size_t i = first; i < first + count; ++i) update(asked[i].hash, asked[i].key);
        });
  }

  void counts(std::span<std::uint64_t> by_flow) const noexcept override {
    for (std::uint32_t flow = 0; flow < by_flow.size(); ++flow) {
      const LabKey key = key_of(flow);
      const Place place = map_.find(hasher_(key), key);
      by_flow[flow] = place == kNowhere ? 0 : map_.value(place).packets;
    }
  }

  static std::size_t memory_bytes(std::size_t entries) noexcept { return Map::memory_bytes(entries); }
  std::size_t places() const noexcept override { return map_.places(); }
  std::size_t size() const noexcept override { return map_.size(); }
  std::uint64_t rejected() const noexcept override { return rejected_; }

  double mean_probes(std::span<const std::uint32_t> flows) const noexcept override {
    std::uint64_t sum = 0;
    for (const std::uint32_t flow : flows) sum += map_.probes(hasher_(key_of(flow)), key_of(flow));
    return flows.empty() ? 0 : static_cast<double>(sum) / static_cast<double>(flows.size());
  }

 private:
  struct Asked {
    LabKey key;
    std::uint64_t hash;
  };

  [[gnu::always_inline]] void update(std::uint64_t hash, LabKey key) noexcept {
    Place place = map_.find(hash, key);
    if (place == kNowhere) [[unlikely]]
      place = start(hash, key);
    if (place != kNowhere) [[likely]]
      ++map_.value(place).packets;
  }
  [[gnu::noinline]] Place start(std::uint64_t hash, LabKey key) noexcept {
    const Place place = map_.insert(hash, key, IgnoreMoves{});
    rejected_ += place == kNowhere;
    return place;
  }

  LabHasher hasher_;
  Map map_;
  std::uint64_t rejected_ = 0;
};

}  // namespace parshall::lab
