// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/huge_buffer.hpp"
#include "pipeline/flow/flow_counter.hpp"
#include "pipeline/flow/maps/hashed_key.hpp"

namespace parshall {

/// Values that every packet of a flow touches, beside its key. Shape: 16 bytes; with a HashedKey<FlowKey>, one cache
/// line.
struct FlowValue {
  CountWord counts;
  std::uint64_t last_ns;
};

/// Flows of a MapTable: hot values in a map, rarely used ones in separate arrays.
template <class Map>
class MapStore {
 public:
  MapStore(std::size_t flows, const TableMemory& memory)
      : map(flows, KeptHash()),
        first_ns_(map.places()),
        spilled_(map.places(), /*huge_pages=*/false),
        has_spilled_(map.places()) {
    if (!memory.populate) return;
    map.populate();
    first_ns_.populate();
  }

  static std::size_t memory_bytes(std::size_t flows) noexcept {
    return Map::memory_bytes(flows) +
           Map::places_for(flows) * (sizeof(std::uint64_t) + sizeof(SpilledCounts) + sizeof(bool));
  }

  CountWord& counts(std::uint32_t slot) noexcept { return map.value(slot).counts; }
  std::uint64_t& last_ns(std::uint32_t slot) noexcept { return map.value(slot).last_ns; }
  std::uint64_t last_ns(std::uint32_t slot) const noexcept { return map.value(slot).last_ns; }
  std::uint64_t& first_ns(std::uint32_t slot) noexcept { return first_ns_[slot]; }

  SpilledCounts spilled(std::uint32_t slot) const noexcept {
    return has_spilled_[slot] ? spilled_[slot] : SpilledCounts{};
  }
  void set_spilled(std::uint32_t slot, const SpilledCounts& counts) noexcept {
    has_spilled_[slot] = true;
    spilled_[slot] = counts;
  }
  void forget_spilled(std::uint32_t slot) noexcept {
    if (has_spilled_[slot]) has_spilled_[slot] = false;
  }

  FlowRecord record(std::uint32_t slot) const noexcept {
    const FlowValue& value = map.value(slot);
    SpilledCounts sum = spilled(slot);
    sum.add(value.counts);
    return {.key = map.key(slot).key,
            .packets = sum.packets,
            .ip_bytes = sum.ip_bytes,
            .wire_bytes = sum.ip_bytes + static_cast<std::uint64_t>(sum.extra_bytes),
            .first_ns = first_ns_[slot],
            .last_ns = value.last_ns,
            .tcp_flags = value.counts.tcp_flags()};
  }

  /// Moves the separate values after the map's entry moved.
  void move(Place from, Place to) noexcept {
    first_ns_[to] = first_ns_[from];
    if (has_spilled_[from])
      set_spilled(to, spilled_[from]);
    else
      forget_spilled(to);
  }

  Map map;

 private:
  HugeBuffer<std::uint64_t> first_ns_;
  HugeBuffer<SpilledCounts> spilled_;
  HugeBuffer<bool> has_spilled_;
};

/// A flow table over any map, for comparison, and for traffic that suits another structure better than the default.
///
/// Moves:  flows, if the map moves entries; the sink is notified.
/// Full:   at `flows` flows, evicts the least recently seen of a few to the sink with EndReason::lack_of_resources. If
///         the map has no room before that, evicts one of the new flow's rivals.
template <FlowMap Map>
class MapTable : private FlowCounter<MapStore<Map>> {
  using Store = MapStore<Map>;
  using Counter = FlowCounter<Store>;
  using Counter::count, Counter::count_rare, Counter::start, Counter::hand_over, Counter::quiet_end, Counter::may_begin;
  using Counter::done_, Counter::sink_, Counter::store_;

 public:
  using Counter::filter_by, Counter::begun, Counter::first_packets, Counter::ends_quiet;

  static constexpr bool kMoves = Map::kMoves;
  static constexpr std::size_t kMaxFlows = std::size_t{1} << 28;
  static std::size_t slots_for(std::size_t flows) noexcept { return Map::places_for(flows); }
  static std::size_t memory_bytes(std::size_t flows) noexcept { return Store::memory_bytes(flows); }

  MapTable(std::size_t flows, Timeouts timeouts, FlowSink& sink, const TableMemory& memory = {})
      : Counter(timeouts, sink, Store(flows, memory)), capacity_(flows) {}

  class Prefetcher {
   public:
    explicit Prefetcher(const Map& map) noexcept : map_(&map) {}
    void operator()(std::uint64_t hash) const noexcept { map_->prefetch(hash); }

   private:
    const Map* map_;
  };
  Prefetcher prefetcher() const noexcept { return Prefetcher(store_.map); }

  template <class Meanwhile = Nothing>
  [[gnu::always_inline]] void update(std::span<const PacketFacts> packets, std::span<SlotRef> slots,
                                     Meanwhile meanwhile = {}) noexcept {
    Map& map = store_.map;
    if constexpr (requires { map.prefetch_entry(0); })
      for (const PacketFacts& facts : packets) map.prefetch_entry(facts.hash);
    for (std::size_t n = 0; n < packets.size(); ++n) {
      meanwhile(n);
      const PacketFacts& facts = packets[n];
      const Place place = map.find(facts.hash, {facts.key, facts.hash});
      done_ = n;
      slots[n] = place != kNowhere ? count(place, facts) : add(facts);
    }
  }

  void settle() noexcept {}

  bool occupied(std::uint32_t slot) const noexcept { return store_.map.occupied(slot); }
  FlowKey key(std::uint32_t slot) const noexcept { return store_.map.key(slot).key; }
  FlowRecord record(std::uint32_t slot) const noexcept { return store_.record(slot); }
  std::uint32_t slots() const noexcept { return static_cast<std::uint32_t>(store_.map.places()); }
  std::size_t size() const noexcept { return store_.map.size(); }
  std::size_t buckets() const noexcept { return store_.map.places(); }

  /// Ends the quiet flows among the next `lines` places of an endless round through the table.
  void sweep(std::uint64_t now_ns, std::uint32_t lines) noexcept {
    done_ = 0;
    for (std::uint32_t n = 0; n < lines; ++n, advance_hand())
      while (occupied(hand_)) {  // another flow may move here
        const EndReason reason = quiet_end(hand_, now_ns);
        if (reason == EndReason::none) break;
        end(hand_, reason);
      }
  }

 private:
  [[gnu::noinline]] SlotRef add(const PacketFacts& facts) noexcept {
    if (!may_begin(facts)) return SlotRef::kept_out();
    if (size() >= capacity_) make_room(facts.hash);
    const HashedKey<FlowKey> key{facts.key, facts.hash};
    Place place;
    while ((place = store_.map.insert(facts.hash, key, told())) == kNowhere) make_room(facts.hash);
    start(place, facts);
    return this->begun_in(place);
  }

  /// Evicts the least recently seen of the hash's rivals or, without rivals, of the next few in an endless round.
  void make_room(std::uint64_t hash) noexcept {
    std::array<Place, kMaxRivals> candidates;
    std::size_t known = store_.map.rivals(hash, candidates);
    if (known == 0)
      for (std::size_t look = 0; look < kMaxRivals || known == 0; ++look, advance_hand())
        if (occupied(hand_)) candidates[known++] = hand_;
    end(*std::min_element(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(known),
                          [&](Place a, Place b) { return store_.last_ns(a) < store_.last_ns(b); }),
        EndReason::lack_of_resources);
  }

  void end(Place place, EndReason reason) noexcept {
    hand_over(place, reason);
    store_.map.erase(place, told());
  }

  auto told() noexcept {
    return [this](Place from, Place to) {
      store_.move(from, to);
      sink_->flow_moved(from, to, done_);
    };
  }

  void advance_hand() noexcept { hand_ = hand_ + 1 == slots() ? 0 : hand_ + 1; }

  std::size_t capacity_;
  std::uint32_t hand_ = 0;
};

}  // namespace parshall
