// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "lab/tables/candidate.hpp"
#include "lab/tables/rolling.hpp"
#include "lab/tables/tasks.hpp"
#include "pipeline/flow/maps/map.hpp"
#include "traffic/keys.hpp"

namespace parshall::lab {

/// A map from flows to task values, made for a given size: a number of entries, or a size type of its own.
template <FlowMap Map>
requires TaskValue<typename Map::Value>
class MapCandidate : public Candidate {
 public:
  MapCandidate(auto size, std::uint64_t seed, TaskTally tally)
      : hasher_{KeyedHash(seed)}, map_(size, hasher_), tally_(tally) {}

  void run(std::span<const std::uint32_t> flows) noexcept override {
    const LabHasher hasher = hasher_;
    const std::uint64_t sequence = sequence_;
    rolling_.run(
        flows.size(),
        [&](std::size_t i, Asked& asked) {
          const Key key = key_of<kKeyBytes>(flows[i]);
          asked = {key, hasher(key), Value::element(flows[i], sequence + i)};
          map_.prefetch(asked.hash);
        },
        HalfWay{&map_}, Update{this});
    sequence_ += flows.size();
  }
  void drain() noexcept override { rolling_.drain(HalfWay{&map_}, Update{this}); }

  void counts(std::span<std::uint64_t> by_flow) const noexcept override {
    for (std::uint32_t flow = 0; flow < by_flow.size(); ++flow) {
      const Value* value = find(flow);
      by_flow[flow] = value == nullptr ? 0 : value->packets;
    }
  }
  void reports(std::span<std::uint8_t> by_flow) const noexcept override {
    for (std::uint32_t flow = 0; flow < by_flow.size(); ++flow) {
      const Value* value = find(flow);
      by_flow[flow] = value != nullptr && value->reported();
    }
  }

  static std::size_t memory_bytes(std::size_t entries) noexcept { return Map::memory_bytes(entries); }
  std::size_t places() const noexcept override { return map_.places(); }
  std::size_t size() const noexcept override { return map_.size(); }
  std::uint64_t rejected() const noexcept override { return rejected_; }

  double mean_probes(std::span<const std::uint32_t> flows) const noexcept override {
    std::uint64_t sum = 0;
    for (const std::uint32_t flow : flows) {
      const Key key = key_of<kKeyBytes>(flow);
      sum += map_.probes(hasher_(key), key);
    }
    return flows.empty() ? 0 : static_cast<double>(sum) / static_cast<double>(flows.size());
  }

 private:
  using Key = typename Map::Key;
  using Value = typename Map::Value;
  static constexpr std::size_t kKeyBytes = sizeof(Key);

  struct Asked {
    Key key;
    std::uint64_t hash;
    std::uint64_t element;
  };
  struct HalfWay {
    const Map* map;
    [[gnu::always_inline]] void operator()(const Asked& asked) const noexcept {
      if constexpr (requires { map->prefetch_entry(0); }) map->prefetch_entry(asked.hash);
    }
  };
  struct Update {
    MapCandidate* self;
    [[gnu::always_inline]] void operator()(std::span<const Asked> group) const noexcept {
      for (const Asked& asked : group) self->update(asked.hash, asked.key, asked.element);
    }
  };

  [[gnu::always_inline]] void update(std::uint64_t hash, Key key, std::uint64_t element) noexcept {
    Place place = map_.find(hash, key);
    if (place == kNowhere) [[unlikely]]
      place = start(hash, key);
    if (place != kNowhere) [[likely]]
      map_.value(place).packet(element, tally_);
  }
  [[gnu::noinline]] Place start(std::uint64_t hash, Key key) noexcept {
    const Place place = map_.insert(hash, key, IgnoreMoves{});
    rejected_ += place == kNowhere;
    return place;
  }
  const Value* find(std::uint32_t flow) const noexcept {
    const Key key = key_of<kKeyBytes>(flow);
    const Place place = map_.find(hasher_(key), key);
    return place == kNowhere ? nullptr : &map_.value(place);
  }

  LabHasher hasher_;
  Map map_;
  Rolling<Asked> rolling_;
  TaskTally tally_;
  std::uint64_t sequence_ = 0;
  std::uint64_t rejected_ = 0;
};

}  // namespace parshall::lab
