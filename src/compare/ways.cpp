// SPDX-License-Identifier: Apache-2.0
#include "compare/ways.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "pipeline/flow/both_ways.hpp"

namespace parshall {
namespace {

constexpr std::int64_t kFewestChanges = 3;  ///< of a connection's direction, that can contradict each other

/// A packet of which it is clear when it passed both taps.
struct Observation {
  std::uint64_t up_ns;
  std::int64_t difference_ns;
  std::uint32_t flow;
};

std::optional<Way> by_votes(std::int64_t votes) {
  if (votes == 0) return std::nullopt;
  return votes > 0 ? Way::there : Way::back;
}

/// Returns the difference of the observation nearest in time.
std::int64_t nearest(std::span<const Observation> sorted, std::uint64_t up_ns) {
  const auto after = std::ranges::lower_bound(sorted, up_ns, {}, &Observation::up_ns);
  if (after == sorted.begin()) return after->difference_ns;
  const auto before = after - 1;
  const bool is_after = after != sorted.end() && after->up_ns - up_ns < up_ns - before->up_ns;
  return (is_after ? after : before)->difference_ns;
}

class WayFinder {
 public:
  WayFinder(const Pairing& pairing, std::vector<std::size_t> partners)
      : pairing_(pairing), partners_(std::move(partners)), ways_(partners_.size()) {
    for (const Pair& pair : pairing.pairs)
      if (pair.is_single_at_up && pair.is_single_at_down)
        observations_.push_back({pair.up_ns, pair.difference_ns(), pair.flow});
    std::ranges::sort(observations_, {},
                      [](const Observation& one) { return std::tuple(one.up_ns, one.difference_ns, one.flow); });
  }

  std::vector<Way> find() {
    look_at_hops();
    look_at_connections();
    look_at_known_flows();
    if (std::ranges::none_of(ways_, &std::optional<Way>::has_value)) look_at_signs();
    look_at_partners();
    std::vector<Way> found;
    const std::vector<bool> is_of_down = seen_at_down_alone();
    const bool goes_back = std::ranges::find(ways_, std::optional(Way::back)) != ways_.end();
    for (std::size_t flow = 0; flow < ways_.size(); ++flow)
      found.push_back(ways_[flow].value_or(goes_back && is_of_down[flow] ? Way::back : Way::there));
    return found;
  }

 private:
  void look_at_hops() {
    std::vector<std::int64_t> votes(ways_.size());
    for (const Pair& pair : pairing_.pairs) votes[pair.flow] += sign(pair.hops);
    for (std::size_t flow = 0; flow < ways_.size(); ++flow) {
      const std::size_t partner = partners_[flow];
      const bool contradicts =
          partner != kNoPartner && sign(votes[flow]) == sign(votes[partner]);  // a device sets the TTL
      if (!contradicts) ways_[flow] = by_votes(votes[flow]);
    }
    look_at_partners();
  }

  void look_at_partners() {
    for (std::size_t flow = 0; flow < ways_.size(); ++flow)
      if (const std::size_t partner = partners_[flow]; !ways_[flow] && partner != kNoPartner && ways_[partner])
        ways_[flow] = other(*ways_[partner]);
  }

  /// Compares packets of a connection where its direction changes, so that clocks that drift do not matter. If both
  /// directions go the same way, as in a replayed capture, these comparisons contradict each other and say nothing.
  void look_at_connections() {
    std::vector<std::int64_t> votes(ways_.size()), changes(ways_.size());
    std::vector<std::optional<Observation>> last(ways_.size());  // of a connection, at the smaller number of its flows
    for (const Observation& one : observations_) {
      const std::size_t partner = partners_[one.flow];
      if (partner == kNoPartner || ways_[one.flow]) continue;
      std::optional<Observation>& before = last[std::min<std::size_t>(one.flow, partner)];
      if (before && before->flow != one.flow) {
        const int vote = sign(one.difference_ns - before->difference_ns);
        votes[one.flow] += vote;
        votes[before->flow] -= vote;
        ++changes[one.flow], ++changes[before->flow];
      }
      before = one;
    }
    std::int64_t agreeing = 0, all = 0;
    for (std::size_t flow = 0; flow < ways_.size(); ++flow) {
      if (changes[flow] < kFewestChanges) continue;
      agreeing += std::abs(votes[flow]);
      all += changes[flow];
    }
    if (agreeing * 10 < all * 9) return;
    for (std::size_t flow = 0; flow < ways_.size(); ++flow)
      if (!ways_[flow]) ways_[flow] = by_votes(votes[flow]);
  }

  void look_at_known_flows() {
    std::vector<Observation> known[2];
    for (const Observation& one : observations_)
      if (ways_[one.flow]) known[static_cast<std::size_t>(*ways_[one.flow])].push_back(one);
    if (known[0].empty() || known[1].empty()) return;
    std::vector<std::int64_t> votes(ways_.size());
    for (const Observation& one : observations_)
      if (!ways_[one.flow])
        votes[one.flow] += sign(2 * one.difference_ns - nearest(known[0], one.up_ns) - nearest(known[1], one.up_ns));
    for (std::size_t flow = 0; flow < ways_.size(); ++flow)
      if (!ways_[flow]) ways_[flow] = by_votes(votes[flow]);
  }

  /// Takes the clocks for equal, if some flows then clearly go there and others back.
  void look_at_signs() {
    std::vector<std::int64_t> votes(ways_.size()), packets(ways_.size());
    for (const Observation& one : observations_) {
      votes[one.flow] += sign(one.difference_ns);
      ++packets[one.flow];
    }
    std::vector<std::optional<Way>> ways(ways_.size());
    for (std::size_t flow = 0; flow < ways.size(); ++flow)
      if (std::abs(votes[flow]) * 10 >= packets[flow] * 9) ways[flow] = by_votes(votes[flow]);
    const auto has = [&](Way way) { return std::ranges::find(ways, std::optional(way)) != ways.end(); };
    if (has(Way::there) && has(Way::back)) ways_ = std::move(ways);
  }

  std::vector<bool> seen_at_down_alone() const {
    std::vector<bool> seen(ways_.size());
    for (const Single& single : pairing_.down_only) seen[single.flow] = true;
    for (const Single& single : pairing_.up_only) seen[single.flow] = false;
    for (const Pair& pair : pairing_.pairs) seen[pair.flow] = false;
    return seen;
  }

  const Pairing& pairing_;
  std::vector<std::size_t> partners_;
  std::vector<std::optional<Way>> ways_;  ///< nullopt: not known yet
  std::vector<Observation> observations_;
};

}  // namespace

std::vector<std::size_t> partners_of(const FlowNumbers& flows) {
  std::vector<std::size_t> partners(flows.keys().size(), kNoPartner);
  for (std::size_t flow = 0; flow < partners.size(); ++flow)
    if (const auto partner = flows.find(opposite(flows.keys()[flow])); partner && *partner != flow)
      partners[flow] = *partner;
  return partners;
}

std::vector<Way> find_ways(const Pairing& pairing, std::vector<std::size_t> partners) {
  return WayFinder(pairing, std::move(partners)).find();
}

}  // namespace parshall
