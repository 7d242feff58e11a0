// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "compare/packet_id.hpp"
#include "pipeline/capture/bpf_filter.hpp"
#include "pipeline/capture/source.hpp"

namespace parshall {

/// Numbers the flows of both taps: the same key has the same number.
class FlowNumbers {
 public:
  static constexpr std::uint32_t kGone = std::numeric_limits<std::uint32_t>::max();

  explicit FlowNumbers(std::uint64_t seed) : numbers_(0, Hash{KeyedHash(seed)}) {}

  std::uint32_t of(const FlowKey& key) {
    const auto [at, is_new] = numbers_.try_emplace(key, static_cast<std::uint32_t>(keys_.size()));
    if (is_new) keys_.push_back(key);
    return at->second;
  }
  std::optional<std::uint32_t> find(const FlowKey& key) const {
    const auto found = numbers_.find(key);
    return found == numbers_.end() ? std::nullopt : std::optional(found->second);
  }
  const std::vector<FlowKey>& keys() const noexcept { return keys_; }

  /// Keeps these flows, and numbers them again in the same order. Returns the new number of each flow, or kGone.
  std::vector<std::uint32_t> keep(const std::vector<bool>& kept);

 private:
  struct Hash {
    KeyedHash hash;
    std::size_t operator()(const FlowKey& key) const noexcept;
  };
  std::unordered_map<FlowKey, std::uint32_t, Hash> numbers_;
  std::vector<FlowKey> keys_;
};

/// One packet at one tap.
struct Sighting {
  std::uint64_t id, time_ns;
  std::uint64_t order;  ///< number of the packet at its tap
  std::uint32_t flow;   ///< by FlowNumbers
  std::uint8_t ttl;
  bool has_waited = false;  ///< for the other tap's packets; see Pairer
  bool had_twin = false;    ///< the other tap saw a packet with its id
  bool had_equal = false;   ///< its own tap saw another packet with its id
};
static_assert(sizeof(Sighting) == 32);

/// Counts what one point saw. packets = filtered + not_ip + malformed + later_fragments + compared.
struct TapCounts {
  std::uint64_t packets = 0;
  std::uint64_t filtered = 0;         ///< not asked for
  std::uint64_t not_ip = 0;           ///< other protocols, such as ARP
  std::uint64_t malformed = 0;        ///< no readable IP header
  std::uint64_t later_fragments = 0;  ///< fragments other than the first have no ports, and are not compared
  std::uint64_t compared = 0;
  std::uint64_t cut = 0;     ///< part of `compared`: see SeenPacket::is_cut
  std::uint64_t missed = 0;  ///< not part of `packets`: an interface dropped them
  std::uint64_t joined = 0;  ///< longer than the MTU of the interface allows: several segments in one
  std::uint64_t first_ns = std::numeric_limits<std::uint64_t>::max(), last_ns = 0;  ///< of all packets

  /// Reads and counts a packet; the filter may be null. Returns whether it is to be compared; `seen` is set then.
  bool take(const RawPacket& packet, BpfFilter* filter, const PacketIds& ids, SeenPacket& seen) noexcept;
};

struct Tap : TapCounts {
  std::string name;
  std::string lacks;           ///< why records of it may be missing; empty: none are
  std::vector<Sighting> seen;  ///< packets that are not paired yet

  void add(const SeenPacket& packet, FlowNumbers& flows) {
    seen.push_back({packet.id, packet.time_ns, packet.order, flows.of(packet.key), packet.ttl});
  }
};

/// Reads all packets of the source that the filter takes, until it ends or `stop` returns true. The filter may be null.
/// Throws std::bad_alloc.
void read_tap(PacketSource& source, BpfFilter* filter, const PacketIds& ids, const std::function<bool()>& stop,
              FlowNumbers& flows, Tap& tap);

}  // namespace parshall
