// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "base/huge_buffer.hpp"
#include "base/keyed_hash.hpp"
#include "pipeline/flow/both_ways.hpp"
#include "pipeline/flow/identity.hpp"
#include "pipeline/flow/maps/linear_index.hpp"
#include "pipeline/measure/tcp/compact_connection.hpp"

namespace parshall {

/// A flow's connection, and the end that the flow is from.
struct ConnectionEnd {
  Place place = kNowhere;
  std::uint8_t from = 0;
};

/// Connections of a worker's TCP flows. The flows of both directions share one.
///
/// A connection lives as long as either direction has a record; restart() is for one that is over before its records
/// are found to be.
/// Shape: 192 bytes a connection, 48 of its key and 20 to find it, and a chunk of segments for each flow. All is
///        committed when first used.
/// Full:  there are 5 segments for every flow, beside two of each undisturbed connection's end. See SegmentPool.
class TcpConnections {
 public:
  TcpConnections(std::size_t flows, std::uint64_t seed)
      : hash_(KeyFields::five_tuple, Identity::exact, seed ^ kOwnSeed),
        map_(flows, hash_),
        connections_(flows),
        segments_(chunks_for(flows)) {}

  static std::size_t memory_bytes(std::size_t flows) noexcept {
    return Map::memory_bytes(flows) + flows * sizeof(CompactConnection) + SegmentPool::memory_bytes(chunks_for(flows));
  }

  void populate() noexcept {
    map_.populate();
    connections_.populate();
    segments_.populate();
  }

  /// Opens or joins the connection of the flow in a slot. There is always room, as each connection has at least one
  /// flow.
  ConnectionEnd open(const FlowKey& flow, std::uint32_t slot) noexcept {
    const auto [key, from] = both_ways(flow);
    const std::uint64_t hash = hash_(key);
    Place place = map_.find(hash, key);
    if (place == kNowhere) {
      place = map_.insert(hash, key, IgnoreMoves{});
      if (place == kNowhere) return {};
      connections_[place] = {};
    }
    ++connections_[place].flows();
    connections_[place].slot(from) = slot;
    connections_[place].round_trips(from) = {};
    return {place, from};
  }
  /// Prefetches what open() will read first.
  void prefetch_open(const FlowKey& flow) const noexcept { map_.prefetch(hash_(both_ways(flow).first)); }

  void close(ConnectionEnd end) noexcept {
    CompactConnection& connection = connections_[end.place];
    connection.slot(end.from) = CompactConnection::kNoSlot;
    if (--connection.flows() != 0) return;
    for (const std::size_t one : {0, 1}) connection.forget_segments(one, segments_);
    map_.erase(end.place, IgnoreMoves{});
  }

  void move(ConnectionEnd end, std::uint32_t to) noexcept { connections_[end.place].slot(end.from) = to; }

  /// Returns the slot of the flow from the other end; CompactConnection::kNoSlot if there is none.
  std::uint32_t other_slot(ConnectionEnd end) noexcept { return connections_[end.place].slot(1 - end.from); }

  /// Forgets all but which flows the connection has.
  void restart(Place place) noexcept {
    CompactConnection& connection = connections_[place];
    for (const std::size_t one : {0, 1}) connection.forget_segments(one, segments_);
    CompactConnection fresh;
    for (const std::size_t one : {0, 1}) fresh.slot(one) = connection.slot(one);
    fresh.flows() = connection.flows();
    connection = fresh;
  }

  /// Closes the connection for one end and forgets what that end sent, because it is not tracked for a while.
  void forget(ConnectionEnd end) noexcept {
    connections_[end.place].forget_segments(end.from, segments_);
    forget_sender(end);
    close(end);
  }

  /// Suspends tracking: clears all state that depends on sequence numbers, since packets will be missed.
  void pause(ConnectionEnd end) noexcept {
    for (const std::size_t one : {0, 1}) connections_[end.place].forget_segments(one, segments_);
    forget_sender(end);
  }

  void prefetch(ConnectionEnd end) const noexcept { connections_[end.place].prefetch(); }
  void prefetch_segments(ConnectionEnd end) const noexcept {
    connections_[end.place].prefetch_segments(end.from, segments_);
  }

  CompactConnection& operator[](Place place) noexcept { return connections_[place]; }
  SegmentPool& segments() noexcept { return segments_; }

 private:
  /// Most connections need none.
  static std::size_t chunks_for(std::size_t flows) noexcept { return flows + 256; }
  /// Forgets what that end sent; it has no segments.
  void forget_sender(ConnectionEnd end) noexcept {
    TcpConnection connection = connections_[end.place].unpack(segments_);
    TcpSender& peer = connection.sender[1 - end.from];
    connection.sender[end.from] = {};
    peer.last_ack = 0;  // numbers that have no meaning from now on
    peer.duplicate_acks = 0;
    connections_[end.place].pack(connection, segments_);
  }

  static constexpr std::uint64_t kOwnSeed = 0x7463'705f'656e'6473;

  struct Hasher {
    FlowIdentity identity;
    Hasher(KeyFields fields, Identity kind, std::uint64_t seed) : identity(fields, kind, seed) {}
    std::uint64_t operator()(const FlowKey& key) const noexcept { return identity.hash(key); }
  };
  struct Nothing {};
  using Map = LinearIndex<FlowKey, Nothing, Hasher>;

  Hasher hash_;
  Map map_;
  HugeBuffer<CompactConnection> connections_;
  SegmentPool segments_;
};

}  // namespace parshall
