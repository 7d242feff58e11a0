// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

#include "pipeline/capture/bpf_filter.hpp"
#include "pipeline/decode/common_path.hpp"
#include "pipeline/decode/decode.hpp"
#include "pipeline/decode/packet_name.hpp"
#include "pipeline/flow/both_ways.hpp"
#include "pipeline/flow/identity.hpp"
#include "pipeline/flow/in_flight.hpp"
#include "pipeline/flow/table.hpp"

namespace parshall {

/// Partition of a link's packets that a worker takes when several workers see all of them.
struct Partition {
  std::uint32_t index = 0;
  std::uint32_t of = 1;

  /// Returns the partition of a hash. It uses the bits below those of the table's bucket, the highest kWithoutTag of
  /// which are in no 32-bit tag either.
  static std::uint32_t index_of(std::uint64_t hash, std::uint32_t of) noexcept {
    return static_cast<std::uint32_t>((hash >> (64 - kBucketBits - 16) & 0xFFFF) * of >> 16);
  }
  static constexpr unsigned kWithoutTag = 64 - kBucketBits - 32;
  bool takes(std::uint64_t hash) const noexcept { return index_of(hash, of) == index; }
};

/// Counts what became of every packet that reached this worker.
struct FrontEndCounts {
  std::uint64_t elsewhere = 0;  ///< another worker's: in its partition, or rejected (the first worker's)
  std::uint64_t filtered = 0;
  std::uint64_t later_msdus = 0;  ///< packets behind the first in their frame; not part of the other counts
  std::array<std::uint64_t, kVerdicts> verdict{};
};

/// Optional work for readers of more header fields.
struct TcpWishes {
  bool facts = false;     ///< fill InFlight::tcp()
  bool together = false;  ///< keep both directions of a connection in one partition
  bool side = false;      ///< fill InFlight::tcp().side
  bool raw = false;       ///< fill InFlight::raw()
  bool biflow = false;    ///< give both directions one key, with InFlight::tcp().is_back to distinguish them
  std::optional<PacketNames> names = std::nullopt;  ///< fill InFlight::tcp().packet_name

  bool any() const noexcept { return reads_more() || names || raw; }
  bool reads_more() const noexcept { return facts || side || biflow; }
};

/// Turns raw packets into facts with key and hash: filter, decode, identity, and this worker's partition.
class FrontEnd {
 public:
  FrontEnd(IpHeader header, const FlowIdentity& identity, Partition partition, std::optional<BpfFilter> filter,
           TcpWishes tcp = {})
      : identity_(identity),
        partition_(partition),
        tcp_(tcp),
        header_(header),
        filter_(std::move(filter)),
        plain_(!filter_ && header == IpHeader::outermost && !identity.from_nic() && !identity.by_batch()) {}

  /// Default for callers that need not know which packets were accepted.
  static constexpr auto kUntold = [](const RawPacket&) {};

  /// Writes the facts of the packets that count for this worker to `in_flight`, in order. Returns how many. Takes at
  /// most kGroup packets, and calls `tell(packet)` for each accepted one, in order.
  template <class Tell = decltype(kUntold)>
  std::size_t accept(std::span<const RawPacket> packets, InFlight& in_flight, Tell tell = {}) noexcept {
    if (!plain_ || partition_.of != 1) [[unlikely]] {
      if (plain_ && packets.size() == kGroup && !tcp_.any())
        if (std::array<PacketFacts, kGroup> group; identity_.ipv4_group(packets.data(), group.data())) [[likely]]
          return take_share(group, packets, in_flight, tell);
      return identity_.by_batch() ? accept_hashed(packets, in_flight, tell) : accept_share(packets, in_flight, tell);
    }
    static_assert(kGroup == 8, "what FlowIdentity::ipv4_group() takes");
    InFlight::Cursor to(in_flight);
    PacketFacts* const group = packets.size() == kGroup ? to.group() : nullptr;
    if (group != nullptr && identity_.ipv4_group(packets.data(), group)) [[likely]] {
      to.advance_group();
      for (const RawPacket& packet : packets) tell(packet);
      if (tcp_.any()) [[unlikely]] {
        if (tcp_.names)
          for (std::size_t i = 0; i < kGroup; ++i) in_flight.next_tcp(i).packet_name = tcp_.names->of_fast(packets[i]);
        if (tcp_.raw)
          for (std::size_t i = 0; i < kGroup; ++i) in_flight.next_raw(i) = &packets[i];
        if (tcp_.reads_more())
          for (std::size_t i = 0; i < kGroup; ++i)
            read_more_of(packets[i], /*is_fast=*/true, group[i], in_flight.next_tcp(i));
      }
      if (numbers_ != nullptr) [[unlikely]]
        return push_numbered_group(packets, in_flight);
    } else if (numbers_ != nullptr) [[unlikely]] {
      return accept_share(packets, in_flight, tell);
    } else if (tcp_.any()) [[unlikely]] {
      to = accept_all(packets, to,
                      [&, i = std::size_t{0}](const RawPacket& packet, PacketFacts& facts, bool is_fast) mutable {
                        if (tcp_.raw) in_flight.next_raw(i) = &packet;
                        TcpFacts& more = in_flight.next_tcp(i++);
                        read_more_of(packet, is_fast, facts, more);
                        read_name(packet, is_fast, more);
                        tell(packet);
                      });
    } else {
      to = accept_all(packets, to, [&](const RawPacket& packet, PacketFacts&, bool) { tell(packet); });
    }
    const std::size_t counted = in_flight.push(to);
    position_ += counted;
    counts_.verdict[static_cast<std::size_t>(Verdict::counted)] += counted;
    return counted;
  }

  /// Gives the numbers that these packets have on the link, where other packets of the link go elsewhere. All of the
  /// link's packets must count. This holds for the next calls, until it is replaced; `numbers` must stay valid.
  void tell_numbers(std::span<const RawPacket> packets, std::span<const std::uint64_t> numbers) noexcept {
    numbered_ = packets.data();
    numbers_ = numbers.data();
  }

  /// Accepts a packet without decoding, by the filter alone. Each worker takes every partition.of-th packet.
  bool accept_undecoded(const RawPacket& packet) noexcept {
    if (filter_ && !filter_->matches(packet)) return reject(counts_.filtered), false;
    if (position_++ % partition_.of != partition_.index) return ++counts_.elsewhere, false;
    ++counts_.verdict[static_cast<std::size_t>(Verdict::counted)];
    return true;
  }

  const FrontEndCounts& counts() const noexcept { return counts_; }

  /// Returns the hash that decides a packet's partition.
  std::uint64_t partition_hash(const PacketFacts& facts) const noexcept {
    return tcp_.together && !tcp_.biflow ? identity_.hash(both_ways(facts.key).first) : facts.hash;
  }
  bool reads_tcp() const noexcept { return tcp_.any(); }

  /// Returns the position reached on the link, without the latest time if all of its packets come here.
  LinkPlace link() const noexcept { return {position_, latest_ns_}; }

 private:
  /// Accepts IP packets one by one. Calls `also` for each with its facts and whether decode_fast() takes it.
  template <class Also>
  [[gnu::always_inline]] InFlight::Cursor accept_all(std::span<const RawPacket> packets, InFlight::Cursor to,
                                                     Also also) noexcept {
    const FlowIdentity identity = identity_;
    for (const RawPacket& packet : packets) {
      FastHeader header;
      const std::uint64_t time_ns = packet.time_ns;
      if (decode_fast(packet, header)) [[likely]] {
        to->time_ns = time_ns;
        to->counts = header.counts;
        identity.ipv4(header.key_head, *to);
        also(packet, *to, true);
      } else if (identify_rest(packet, *to)) {
        also(packet, *to, false);
      } else {
        continue;
      }
      to.advance();
    }
    return to;
  }

  [[gnu::noinline]] std::size_t push_numbered_group(std::span<const RawPacket> packets, InFlight& in_flight) noexcept {
    const std::uint64_t* const numbers = numbers_ + (packets.data() - numbered_);
    latest_ns_ = in_flight.push_group(std::span<const std::uint64_t, kGroup>(numbers, kGroup), latest_ns_);
    position_ = numbers[kGroup - 1] + 1;
    counts_.verdict[static_cast<std::size_t>(Verdict::counted)] += kGroup;
    return kGroup;
  }

  /// Accepts the packets of a common group in this worker's partition. It avoids a branch, as at most half of them are
  /// and the pattern is unpredictable.
  template <class Tell>
  [[gnu::noinline]] std::size_t take_share(const std::array<PacketFacts, kGroup>& group,
                                           std::span<const RawPacket> packets, InFlight& in_flight,
                                           Tell tell) noexcept {
    const std::uint64_t pushed = in_flight.pushed();
    for (std::size_t i = 0; i < kGroup; ++i) {
      const LinkPlace place = next_place(packets[i], group[i]);
      const bool takes = partition_.takes(partition_hash(group[i]));
      in_flight.next() = group[i];
      in_flight.push_at(place, takes);
      if constexpr (!std::is_same_v<Tell, decltype(kUntold)>)
        if (takes) tell(packets[i]);
    }
    const std::size_t taken = in_flight.pushed() - pushed;
    counts_.verdict[static_cast<std::size_t>(Verdict::counted)] += taken;
    counts_.elsewhere += kGroup - taken;
    return taken;
  }

  /// Accepts packets with all options: filter, inner header, hash from the NIC, and partition.
  template <class Tell>
  [[gnu::noinline]] std::size_t accept_share(std::span<const RawPacket> packets, InFlight& in_flight,
                                             Tell tell) noexcept {
    const std::uint64_t pushed = in_flight.pushed();
    const FlowIdentity identity = identity_;
    for (const RawPacket& packet : packets) {
      if (filter_ && !filter_->matches(packet)) {
        reject(counts_.filtered);
        continue;
      }
      PacketFacts& facts = in_flight.next();
      FastHeader header;
      const bool is_fast = decode_fast(packet, header) && (header_ == IpHeader::outermost || header.is_tcp());
      if (is_fast) [[likely]] {
        facts.time_ns = packet.time_ns;
        facts.counts = header.counts;
        identity.ipv4(header.key_head, facts);
        identity.take_nic_hash(packet, facts);
      } else if (!identify_rest(packet, facts)) {
        continue;
      }
      const LinkPlace place = next_place(packet, facts);
      if (tcp_.biflow) [[unlikely]]
        in_flight.next_tcp().is_back = identity.join_directions(facts);
      if (!partition_.takes(partition_hash(facts))) {
        ++counts_.elsewhere;
        continue;
      }
      if (tcp_.any()) {
        read_headers(packet, is_fast, in_flight.next_tcp());
        read_name(packet, is_fast, in_flight.next_tcp());
        if (tcp_.raw) in_flight.next_raw() = &packet;
      }
      in_flight.push_at(place);
      tell(packet);
      ++counts_.verdict[static_cast<std::size_t>(Verdict::counted)];
    }
    return in_flight.pushed() - pushed;
  }

  /// Does the same with a hash of the user's choice, which hashes all keys at once.
  template <class Tell>
  [[gnu::noinline]] std::size_t accept_hashed(std::span<const RawPacket> packets, InFlight& in_flight,
                                              Tell tell) noexcept {
    std::array<PacketFacts, kGroup> group;
    std::array<const RawPacket*, kGroup> from;
    std::array<bool, kGroup> is_back{};
    std::size_t decoded = 0;
    for (const RawPacket& packet : packets) {
      if (filter_ && !filter_->matches(packet)) {
        reject(counts_.filtered);
        continue;
      }
      PacketFacts& facts = group[decoded];
      FastHeader header;
      if (decode_fast(packet, header) && (header_ == IpHeader::outermost || header.is_tcp())) [[likely]] {
        facts.time_ns = packet.time_ns;
        facts.counts = header.counts;
        identity_.choose_fields(header.key_head, facts);
      } else if (decode_rest(packet, facts)) {
        identity_.choose_fields(facts);
      } else {
        continue;
      }
      from[decoded++] = &packet;
    }
    if (tcp_.biflow) [[unlikely]]
      for (std::size_t i = 0; i < decoded; ++i) is_back[i] = identity_.join_directions(group[i]);
    else
      identity_.hash_batch({group.data(), decoded});
    std::size_t counted = 0;
    for (std::size_t i = 0; i < decoded; ++i) {
      const LinkPlace place = next_place(*from[i], group[i]);
      if (!partition_.takes(partition_hash(group[i]))) {
        ++counts_.elsewhere;
        continue;
      }
      in_flight.next() = group[i];
      if (tcp_.biflow) in_flight.next_tcp().is_back = is_back[i];
      if (tcp_.any()) {
        read_headers(*from[i], /*is_fast=*/false, in_flight.next_tcp());
        read_name(*from[i], /*is_fast=*/false, in_flight.next_tcp());
        if (tcp_.raw) in_flight.next_raw() = from[i];
      }
      in_flight.push_at(place);
      tell(*from[i]);
      ++counted;
    }
    counts_.verdict[static_cast<std::size_t>(Verdict::counted)] += counted;
    return counted;
  }

  void read_more_of(const RawPacket& packet, bool is_fast, PacketFacts& facts, TcpFacts& tcp) const noexcept {
    if (tcp_.biflow) tcp.is_back = identity_.join_directions(facts);
    read_headers(packet, is_fast, tcp);
  }
  void read_headers(const RawPacket& packet, bool is_fast, TcpFacts& tcp) const noexcept {
    if (tcp_.facts) {
      if (is_fast)
        read_tcp_fast(packet, tcp);
      else if (!read_tcp_common(packet, header_, tcp))
        read_tcp(packet, header_, tcp);
    }
    if (tcp_.side) is_fast ? read_side_fast(packet, tcp.side) : read_side(packet, header_, tcp.side);
  }
  void read_name(const RawPacket& packet, bool is_fast, TcpFacts& tcp) const noexcept {
    if (tcp_.names) tcp.packet_name = is_fast ? tcp_.names->of_fast(packet) : tcp_.names->of(packet, header_);
  }

  /// Returns whether the outermost header is the requested one; no tunnel runs over TCP.
  bool is_only_header(const FlowKey& key) const noexcept {
    return header_ == IpHeader::outermost || key.protocol == FastHeader::kTcp;
  }

  [[gnu::noinline]] bool identify_rest(const RawPacket& packet, PacketFacts& facts) noexcept {
    if (!decode_rest(packet, facts)) return false;
    identity_(packet, facts);
    return true;
  }
  [[gnu::always_inline]] bool decode_rest(const RawPacket& packet, PacketFacts& facts) noexcept {
    if (!decode_common(packet, facts) || !is_only_header(facts.key)) {
      if (partition_.index == 0) counts_.later_msdus += count_later_msdus(packet);
      const Verdict verdict = decode_any(packet, header_, facts);
      if (verdict != Verdict::counted) return reject(counts_.verdict[static_cast<std::size_t>(verdict)]), false;
    }
    return true;
  }

  LinkPlace next_place(const RawPacket& packet, const PacketFacts& facts) noexcept {
    return note_place(numbers_ != nullptr ? number_of(packet) : position_, facts);
  }
  LinkPlace note_place(std::uint64_t number, const PacketFacts& facts) noexcept {
    position_ = number + 1;
    latest_ns_ = std::max(latest_ns_, facts.time_ns);
    return {number, latest_ns_};
  }
  std::uint64_t number_of(const RawPacket& packet) const noexcept { return numbers_[&packet - numbered_]; }

  /// Counts a packet without a flow. Such packets belong to the first worker, so that they are counted once.
  void reject(std::uint64_t& reason) noexcept { ++(partition_.index == 0 ? reason : counts_.elsewhere); }

  FlowIdentity identity_;
  Partition partition_;
  TcpWishes tcp_;
  IpHeader header_;
  std::optional<BpfFilter> filter_;
  bool plain_;
  std::uint64_t position_ = 0, latest_ns_ = 0;
  const RawPacket* numbered_ = nullptr;
  const std::uint64_t* numbers_ = nullptr;  ///< for packets from numbered_ on; null if numbers are consecutive
  FrontEndCounts counts_;
};

}  // namespace parshall
