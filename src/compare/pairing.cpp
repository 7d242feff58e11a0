// SPDX-License-Identifier: Apache-2.0
#include "compare/pairing.hpp"

#include <span>
#include <tuple>

namespace parshall {
namespace {

/// Sorts packets of which those that waited are sorted already.
void sort_by_id(std::vector<Sighting>& seen) {
  const auto key = [](const Sighting& one) { return std::tuple(one.id, one.time_ns, one.order); };
  const auto unsorted = std::ranges::is_sorted_until(seen, {}, key);
  std::ranges::sort(unsorted, seen.end(), {}, key);
  std::ranges::inplace_merge(seen, unsorted, {}, key);
}

/// The packets with one id at one tap.
using Alike = std::span<Sighting>;

/// Returns the packets with the id of the first, and takes them from `rest`.
Alike take_alike(Alike& rest) {
  const auto end = std::ranges::find_if(rest, [id = rest.front().id](const Sighting& one) { return one.id != id; });
  const auto count = static_cast<std::size_t>(end - rest.begin());
  const Alike alike = rest.first(count);
  rest = rest.subspan(count);
  return alike;
}

/// Returns how much lower the TTL is at DOWN; 0 if a tap saw several, as of packets that passed it before and behind a
/// router.
std::int16_t hops_between(Alike up, Alike down) {
  const auto differs = [](Alike seen) {
    return std::ranges::any_of(seen, [&](const Sighting& one) { return one.ttl != seen.front().ttl; });
  };
  if (differs(up) || differs(down)) return 0;
  return static_cast<std::int16_t>(up.front().ttl - down.front().ttl);
}

bool is_alike(const Sighting& one, Alike all) noexcept { return all.size() > 1 || one.had_equal; }

/// Packets of one tap that stay, at the beginning of its own vector.
class Staying {
 public:
  explicit Staying(std::vector<Sighting>& seen) : seen_(seen) {}
  void add(Sighting one, Alike own, Alike others) {
    one.had_equal |= own.size() > 1;
    one.had_twin |= !others.empty();
    one.has_waited = true;
    seen_[count_++] = one;
  }
  void finish() { seen_.resize(count_); }

 private:
  std::vector<Sighting>& seen_;
  std::size_t count_ = 0;
};

}  // namespace

void FlowLinks::cover(std::size_t flows) {
  while (links_.size() < flows) links_.push_back({.to = static_cast<std::uint32_t>(links_.size())});
}

void FlowLinks::note(const Sighting& here, std::uint32_t there) {
  cover(std::size_t{here.flow} + 1);
  Link& link = links_[here.flow];
  if (here.time_ns > link.since_ns || (here.time_ns == link.since_ns && there >= link.to)) return;
  link = {there, here.time_ns};
}

void FlowLinks::renumber(std::span<const std::uint32_t> numbers) {
  std::vector<Link> old = std::move(links_);
  links_.clear();
  for (std::size_t flow = 0; flow < old.size(); ++flow) {
    if (numbers[flow] == FlowNumbers::kGone) continue;
    cover(std::size_t{numbers[flow]} + 1);
    if (numbers[old[flow].to] != FlowNumbers::kGone)
      links_[numbers[flow]] = {numbers[old[flow].to], old[flow].since_ns};
  }
}

void Pairer::renumber(std::span<const std::uint32_t> numbers) {
  down_links_.renumber(numbers);
  up_links_.renumber(numbers);
}

Pairing Pairer::pair_up(Tap& up, Tap& down, Which which) {
  sort_by_id(up.seen);
  sort_by_id(down.seen);
  const auto is_due = [which](const Sighting& one) { return which == Which::all || one.has_waited; };
  Pairing found;
  Staying up_stays(up.seen), down_stays(down.seen);
  const auto take_single = [&](const Sighting& one, Alike own, Alike others, std::vector<Single>& singles,
                               Staying& stays) {
    if (is_due(one))
      singles.push_back({one.time_ns, one.flow, !others.empty() || one.had_twin, is_alike(one, own)});
    else
      stays.add(one, own, others);
  };
  Alike up_rest = up.seen, down_rest = down.seen;
  while (!up_rest.empty() || !down_rest.empty()) {
    const bool takes_up = !up_rest.empty() && (down_rest.empty() || up_rest.front().id <= down_rest.front().id);
    const bool takes_down = !down_rest.empty() && (up_rest.empty() || down_rest.front().id <= up_rest.front().id);
    const Alike at_up = takes_up ? take_alike(up_rest) : Alike();
    const Alike at_down = takes_down ? take_alike(down_rest) : Alike();
    const std::size_t paired = std::min(at_up.size(), at_down.size());
    const std::int16_t hops = paired == 0 ? std::int16_t{0} : hops_between(at_up, at_down);
    for (std::size_t i = 0; i < paired; ++i) {
      const Sighting &one = at_up[i], &other = at_down[i];
      down_links_.note(one, other.flow);
      up_links_.note(other, one.flow);
      if (is_due(one) && is_due(other)) {
        found.pairs.push_back({.up_ns = one.time_ns,
                               .down_ns = other.time_ns,
                               .up_order = one.order,
                               .down_order = other.order,
                               .flow = one.flow,
                               .hops = hops,
                               .is_single_at_up = !is_alike(one, at_up),
                               .is_single_at_down = !is_alike(other, at_down)});
      } else {
        up_stays.add(one, at_up, at_down);
        down_stays.add(other, at_down, at_up);
      }
    }
    for (const Sighting& one : at_up.subspan(paired)) take_single(one, at_up, at_down, found.up_only, up_stays);
    for (const Sighting& one : at_down.subspan(paired)) take_single(one, at_down, at_up, found.down_only, down_stays);
  }
  up_stays.finish();
  down_stays.finish();
  for (Single& single : found.down_only) single.flow = up_links_[single.flow];
  return found;
}

}  // namespace parshall
