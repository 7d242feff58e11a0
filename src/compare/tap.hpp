// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "compare/packet_id.hpp"
#include "pipeline/capture/source.hpp"

namespace parshall {

/// Numbers the flows of both taps: the same key has the same number.
class FlowNumbers {
 public:
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
  std::uint32_t order;  ///< number of the packet at its tap
  std::uint32_t flow;   ///< by FlowNumbers
  std::uint8_t ttl;
};
static_assert(sizeof(Sighting) == 32);

/// Holds what one point saw. packets = not_ip + malformed + later_fragments + seen.size().
struct Tap {
  std::string name;
  std::uint64_t packets = 0;
  std::uint64_t not_ip = 0;           ///< other protocols, such as ARP
  std::uint64_t malformed = 0;        ///< no readable IP header
  std::uint64_t later_fragments = 0;  ///< fragments other than the first have no ports, and are not compared
  std::uint64_t cut = 0;              ///< part of `seen`: see SeenPacket::is_cut
  std::uint64_t first_ns = std::numeric_limits<std::uint64_t>::max(), last_ns = 0;  ///< of all packets
  std::vector<Sighting> seen;
};

/// Reads all packets of the source, until it ends or `stop` returns true. Throws std::bad_alloc.
void read_tap(PacketSource& source, const PacketIds& ids, const std::function<bool()>& stop, FlowNumbers& flows,
              Tap& tap);

}  // namespace parshall
