// SPDX-License-Identifier: Apache-2.0
#include "compare/ways.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace parshall {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

struct Seen {
  std::int64_t hops = 0;      ///< packets with a lower TTL at DOWN, minus those with a higher one
  std::uint64_t packets = 0;  ///< packets of which it is clear when they passed both taps
  __int128 sum_ns = 0;        ///< of their differences, whose order does not matter

  double difference_ns() const noexcept { return static_cast<double>(sum_ns) / static_cast<double>(packets); }
};

FlowKey reversed(const FlowKey& key) {
  FlowKey other = key;
  std::swap(other.src_port_bytes, other.dst_port_bytes);
  std::swap_ranges(other.address.begin(), other.address.begin() + static_cast<std::ptrdiff_t>(key.address_bytes()),
                   other.address.begin() + static_cast<std::ptrdiff_t>(key.address_bytes()));
  return other;
}

/// Returns for each flow the other direction of its connection; kNone if it was not seen.
std::vector<std::size_t> find_partners(const FlowNumbers& flows) {
  std::vector<std::size_t> partners(flows.keys().size(), kNone);
  for (std::size_t flow = 0; flow < partners.size(); ++flow)
    if (const auto partner = flows.find(reversed(flows.keys()[flow])); partner && *partner != flow)
      partners[flow] = *partner;
  return partners;
}

std::vector<Seen> sum_up(const Pairing& pairing, std::size_t flows) {
  std::vector<Seen> seen(flows);
  for (const Pair& pair : pairing.pairs) {
    if (!pair.is_clear_from_up || !pair.is_clear_from_down) continue;
    Seen& flow = seen[pair.flow];
    flow.hops += int{pair.up_ttl > pair.down_ttl} - int{pair.up_ttl < pair.down_ttl};
    ++flow.packets;
    flow.sum_ns += pair.difference_ns();
  }
  return seen;
}

constexpr Way other(Way way) noexcept { return way == Way::there ? Way::back : Way::there; }

}  // namespace

std::vector<Way> find_ways(const Pairing& pairing, const FlowNumbers& flows) {
  const std::size_t count = flows.keys().size();
  const std::vector<Seen> seen = sum_up(pairing, count);
  const std::vector<std::size_t> partners = find_partners(flows);
  std::vector<std::optional<Way>> ways(count);
  for (std::size_t flow = 0; flow < count; ++flow)
    if (seen[flow].hops != 0) ways[flow] = seen[flow].hops > 0 ? Way::there : Way::back;
  for (std::size_t flow = 0; flow < count; ++flow) {
    const std::size_t partner = partners[flow];
    if (ways[flow] || partner == kNone) continue;
    if (seen[partner].hops != 0)
      ways[flow] = other(*ways[partner]);
    else if (seen[flow].packets != 0 && seen[partner].packets != 0 &&
             seen[flow].difference_ns() != seen[partner].difference_ns())
      ways[flow] = seen[flow].difference_ns() > seen[partner].difference_ns() ? Way::there : Way::back;
  }

  double least_there = std::numeric_limits<double>::infinity(), most_back = -least_there;
  for (std::size_t flow = 0; flow < count; ++flow) {
    if (!ways[flow] || seen[flow].packets == 0) continue;
    if (*ways[flow] == Way::there)
      least_there = std::min(least_there, seen[flow].difference_ns());
    else
      most_back = std::max(most_back, seen[flow].difference_ns());
  }
  const bool knows_both = least_there < std::numeric_limits<double>::infinity() && std::isfinite(most_back);
  std::vector<Way> found(count, Way::there);
  for (std::size_t flow = 0; flow < count; ++flow) {
    const std::size_t partner = partners[flow];
    if (ways[flow])
      found[flow] = *ways[flow];
    else if (partner != kNone && ways[partner])
      found[flow] = other(*ways[partner]);
    else if (knows_both && seen[flow].packets != 0 && seen[flow].difference_ns() < (least_there + most_back) / 2)
      found[flow] = Way::back;
  }
  return found;
}

}  // namespace parshall
