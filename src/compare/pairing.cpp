// SPDX-License-Identifier: Apache-2.0
#include "compare/pairing.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

namespace parshall {
namespace {

void sort_by_id(std::vector<Sighting>& seen) {
  std::ranges::sort(seen, {}, [](const Sighting& one) { return std::tuple(one.id, one.time_ns, one.order); });
}

/// Returns the packets with the id of the first, and takes them from `rest`.
std::span<const Sighting> take_alike(std::span<const Sighting>& rest) {
  const auto end = std::ranges::find_if(rest, [id = rest.front().id](const Sighting& one) { return one.id != id; });
  const auto count = static_cast<std::size_t>(end - rest.begin());
  const auto alike = rest.first(count);
  rest = rest.subspan(count);
  return alike;
}

/// For each flow at one tap, the flow that its packets are part of at the other one, by the earliest of them.
class FlowLinks {
 public:
  explicit FlowLinks(std::size_t flows) : links_(flows), since_(flows, std::numeric_limits<std::uint64_t>::max()) {
    std::iota(links_.begin(), links_.end(), 0u);
  }
  void note(const Sighting& here, std::uint32_t there) {
    if (here.time_ns > since_[here.flow] || (here.time_ns == since_[here.flow] && there >= links_[here.flow])) return;
    since_[here.flow] = here.time_ns;
    links_[here.flow] = there;
  }
  const std::vector<std::uint32_t>& links() const noexcept { return links_; }

 private:
  std::vector<std::uint32_t> links_;
  std::vector<std::uint64_t> since_;
};

/// Returns how much lower the TTL is at DOWN; 0 if a tap saw several, as of packets that passed it before and behind a
/// router.
std::int16_t hops_between(std::span<const Sighting> up, std::span<const Sighting> down) {
  const auto differs = [](std::span<const Sighting> seen) {
    return std::ranges::any_of(seen, [&](const Sighting& one) { return one.ttl != seen.front().ttl; });
  };
  if (differs(up) || differs(down)) return 0;
  return static_cast<std::int16_t>(up.front().ttl - down.front().ttl);
}

void add_pairs(std::span<const Sighting> up, std::span<const Sighting> down, Pairing& found) {
  const std::size_t count = std::min(up.size(), down.size());
  if (count == 0) return;
  const std::int16_t hops = hops_between(up, down);
  for (std::size_t i = 0; i < count; ++i)
    found.pairs.push_back({.up_ns = up[i].time_ns,
                           .down_ns = down[i].time_ns,
                           .up_order = up[i].order,
                           .down_order = down[i].order,
                           .flow = up[i].flow,
                           .hops = hops,
                           .is_single_at_up = up.size() == 1,
                           .is_single_at_down = down.size() == 1});
}

void add_singles(std::span<const Sighting> surplus, bool has_twin, std::vector<Single>& singles) {
  for (const Sighting& one : surplus) singles.push_back({one.time_ns, one.flow, has_twin});
}

void count_alike(std::span<const Sighting> seen, std::vector<std::uint64_t>& alike) {
  if (seen.size() > 1)
    for (const Sighting& one : seen) ++alike[one.flow];
}

}  // namespace

Pairing pair_up(Tap& up, Tap& down, std::size_t flows) {
  sort_by_id(up.seen);
  sort_by_id(down.seen);
  Pairing found;
  FlowLinks down_links(flows), up_links(flows);
  found.alike_up.resize(flows);
  found.alike_down.resize(flows);
  std::span<const Sighting> up_rest = up.seen, down_rest = down.seen;
  while (!up_rest.empty() || !down_rest.empty()) {
    const bool takes_up = !up_rest.empty() && (down_rest.empty() || up_rest.front().id <= down_rest.front().id);
    const bool takes_down = !down_rest.empty() && (up_rest.empty() || down_rest.front().id <= up_rest.front().id);
    const auto at_up = takes_up ? take_alike(up_rest) : std::span<const Sighting>();
    const auto at_down = takes_down ? take_alike(down_rest) : std::span<const Sighting>();
    add_pairs(at_up, at_down, found);
    const std::size_t paired = std::min(at_up.size(), at_down.size());
    for (std::size_t i = 0; i < paired; ++i) {
      down_links.note(at_up[i], at_down[i].flow);
      up_links.note(at_down[i], at_up[i].flow);
    }
    add_singles(at_up.subspan(paired), paired != 0, found.up_only);
    add_singles(at_down.subspan(paired), paired != 0, found.down_only);
    count_alike(at_up, found.alike_up);
    count_alike(at_down, found.alike_down);
  }
  found.at_down = down_links.links();
  const std::vector<std::uint32_t>& at_up = up_links.links();
  for (Single& single : found.down_only) single.flow = at_up[single.flow];
  for (std::size_t flow = 0; flow < flows; ++flow)
    if (at_up[flow] != flow) found.alike_down[at_up[flow]] += std::exchange(found.alike_down[flow], 0);
  return found;
}

}  // namespace parshall
