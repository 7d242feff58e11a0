// SPDX-License-Identifier: Apache-2.0
#include "compare/pairing.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <tuple>

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

void add_pairs(std::span<const Sighting> up, std::span<const Sighting> down, Pairing& found) {
  const std::size_t count = std::min(up.size(), down.size());
  const bool is_even = up.size() == down.size();
  for (std::size_t i = 0; i < count; ++i) {
    found.pairs.push_back({up[i].time_ns, down[i].time_ns, up[i].order, down[i].order, up[i].flow, up[i].ip_bytes,
                           up[i].ttl, down[i].ttl, is_even || up.size() == 1, is_even || down.size() == 1});
    found.at_down[up[i].flow] = down[i].flow;
  }
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
  found.at_down.resize(flows);
  std::iota(found.at_down.begin(), found.at_down.end(), 0u);
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
    add_singles(at_up.subspan(paired), paired != 0, found.up_only);
    add_singles(at_down.subspan(paired), paired != 0, found.down_only);
    count_alike(at_up, found.alike_up);
    count_alike(at_down, found.alike_down);
  }
  std::vector<std::uint32_t> at_up(flows);
  std::iota(at_up.begin(), at_up.end(), 0u);
  for (const Pair& pair : found.pairs) at_up[found.at_down[pair.flow]] = pair.flow;
  for (Single& single : found.down_only) single.flow = at_up[single.flow];
  for (std::size_t flow = 0; flow < flows; ++flow)
    if (at_up[flow] != flow) found.alike_down[at_up[flow]] += std::exchange(found.alike_down[flow], 0);
  return found;
}

}  // namespace parshall
