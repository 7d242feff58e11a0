// SPDX-License-Identifier: Apache-2.0
#include "compare/cuts.hpp"

#include <algorithm>
#include <utility>

#include "compare/pairing.hpp"

namespace parshall {
namespace {

/// A point in a flow that both taps know: a common cut, or an end of the flow.
struct Point {
  PacketSums up, down;
  std::optional<Passage> passage;  ///< of a cut
  std::uint64_t weight = 0;
};

/// Returns the cuts by name, without those that a tap has more than once: alike packets.
std::vector<const Cut*> by_name(const std::vector<Cut>& cuts) {
  std::vector<const Cut*> sorted;
  for (const Cut& cut : cuts) sorted.push_back(&cut);
  std::ranges::sort(sorted, {}, &Cut::name);
  std::vector<const Cut*> once;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const auto has_same_name = [&](std::size_t other) { return sorted[other]->name == sorted[i]->name; };
    if ((i == 0 || !has_same_name(i - 1)) && (i + 1 == sorted.size() || !has_same_name(i + 1)))
      once.push_back(sorted[i]);
  }
  return once;
}

/// Returns the common cuts that can be right, in the order of UP.
std::vector<Point> common_cuts(const TapSums& up, const TapSums& down) {
  const auto of_up = by_name(up.cuts), of_down = by_name(down.cuts);
  std::vector<Point> points;
  for (const Cut* const cut : of_up) {
    const auto found = std::ranges::lower_bound(of_down, cut->name, {}, &Cut::name);
    if (found == of_down.end() || (*found)->name != cut->name) continue;
    const auto is_within = [](const PacketSums& sums, const PacketSums& all) {
      return sums.packets != 0 && sums.packets <= all.packets;
    };
    if (!is_within(cut->sums, up.all) || !is_within((*found)->sums, down.all)) continue;
    points.push_back({cut->sums, (*found)->sums, Passage{cut->time_ns, difference_of(cut->time_ns, (*found)->time_ns)},
                      cut->weight});
  }
  std::ranges::sort(points, {}, [](const Point& point) { return std::pair(point.up.packets, ~point.down.packets); });
  return points;
}

/// Removes as few points as possible, so that the others are in the same order at both taps: the rest is a longest
/// increasing subsequence.
void keep_in_order(std::vector<Point>& points) {
  std::vector<std::size_t> ends,
      before(points.size());  // ends[k]: where the sequence of k + 1 points with least end ends
  constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto at = std::ranges::lower_bound(ends, points[i].down.packets, {},
                                             [&](std::size_t end) { return points[end].down.packets; });
    before[i] = at == ends.begin() ? kNone : *(at - 1);
    if (at == ends.end())
      ends.push_back(i);
    else
      *at = i;
  }
  std::vector<Point> kept(ends.size());
  for (std::size_t i = ends.empty() ? kNone : ends.back(), left = ends.size(); i != kNone; i = before[i])
    kept[--left] = points[i];
  points = std::move(kept);
}

/// The packets between two points.
struct Segment {
  PacketSums up, down;

  bool is_whole() const noexcept { return up.packets == down.packets && up.names == down.names; }
  std::int64_t lost() const noexcept { return static_cast<std::int64_t>(up.packets - down.packets); }
};

Segment between(const Point& from, const Point& to) noexcept { return {to.up - from.up, to.down - from.down}; }

/// Returns the mean passage of as many packets at both taps. Their times are told from `from_ns` at UP and DOWN, so
/// that sums do not wrap around; if that of UP's times still may, `middle_ns` stands for their mean.
Passage mean_passage(const Segment& segment, const Passage& from, std::uint64_t middle_ns) noexcept {
  const std::uint64_t packets = segment.up.packets, base_ns = static_cast<std::uint64_t>(from.difference_ns);
  const auto later = static_cast<std::int64_t>(segment.down.times_ns - segment.up.times_ns - packets * base_ns);
  const std::int64_t difference_ns = from.difference_ns + later / static_cast<std::int64_t>(packets);
  constexpr __int128 kMost = __int128{1} << 62;
  const std::uint64_t span_ns = 2 * (middle_ns > from.up_ns ? middle_ns - from.up_ns : 0);
  if (__int128{packets} * span_ns > kMost) return {middle_ns, difference_ns};
  const auto since = static_cast<std::int64_t>(segment.up.times_ns - packets * from.up_ns);
  return {from.up_ns + static_cast<std::uint64_t>(since / static_cast<std::int64_t>(packets)), difference_ns};
}

class CutComparer {
 public:
  /// `cuts`: all common cuts, in the order of UP; `points`: those in the same order at both taps, and ends of the flow.
  CutComparer(std::vector<Point> cuts, std::vector<Point> points, const TapSums& up, const TapSums& down)
      : cuts_(std::move(cuts)),
        points_(std::move(points)),
        first_{up.first_ns, difference_of(up.first_ns, down.first_ns)},
        last_ns_(up.last_ns) {}

  CutFlow compare() {
    const Segment all = between(points_.front(), points_.back());
    found_.packets_up = all.up.packets;
    found_.packets_down = all.down.packets;
    found_.is_unlike = cuts_.empty() && all.lost() == 0 && !all.is_whole();
    for (const Point& cut : cuts_) found_.samples.push_back({*cut.passage, cut.weight});
    for (std::size_t from = 0; from + 1 < points_.size();) {
      std::size_t to = from + 1;
      if (!is_whole(from))
        while (const std::size_t next = next_to_join(to)) to = next + 1;
      add_stretch(points_[from], points_[to]);
      from = to;
    }
    found_.lost += net_at_ends_ > 0 ? static_cast<std::uint64_t>(net_at_ends_) : 0;
    found_.more += net_at_ends_ < 0 ? static_cast<std::uint64_t>(-net_at_ends_) : 0;
    return std::move(found_);
  }

 private:
  static constexpr std::uint64_t kLongestNs = 100'000'000;  ///< that a packet is overtaken by

  bool is_whole(std::size_t segment) const noexcept {
    return between(points_[segment], points_[segment + 1]).is_whole();
  }

  /// Returns the next segment that is not whole, if a packet that was overtaken in the one before the point `from` may
  /// have arrived in it; else 0.
  std::size_t next_to_join(std::size_t from) const noexcept {
    std::size_t next = from;
    while (next + 1 < points_.size() && is_whole(next)) ++next;
    if (next + 1 >= points_.size()) return 0;
    if (next == from) return next;
    return is_near(points_[from], points_[next]) ? next : 0;
  }

  /// Returns whether both are cuts, and a packet may have been overtaken by both.
  static bool is_near(const Point& from, const Point& to) noexcept {
    return from.passage && to.passage && to.passage->up_ns - from.passage->up_ns <= kLongestNs;
  }

  /// Adds a stretch of segments: one that is whole, or some of which the first and the last are not.
  void add_stretch(const Point& from, const Point& to) {
    const Segment stretch = between(from, to);
    if (stretch.up.packets == 0 && stretch.down.packets == 0) return;
    const std::int64_t net = stretch.lost();
    if (!stretch.is_whole() && (is_near(points_.front(), from) || is_near(to, points_.back()))) {
      net_at_ends_ += net;  // packets may have overtaken the first cut or the last one
      found_.is_exact = false;
    } else if (!stretch.is_whole()) {
      const std::uint64_t unknown = net == 0 ? 1 : 0;  // as many packets, but others
      found_.lost += net > 0 ? static_cast<std::uint64_t>(net) : unknown;
      found_.more += net < 0 ? static_cast<std::uint64_t>(-net) : unknown;
      found_.is_exact = false;
    }
    const std::uint64_t arrived = std::min(stretch.up.packets, stretch.down.packets);
    if (arrived == 0) return;
    if (net == 0) {
      const Passage begin = from.passage.value_or(first_);
      const std::uint64_t end_ns = to.passage ? to.passage->up_ns : last_ns_;
      const std::uint64_t middle_ns = begin.up_ns + (end_ns > begin.up_ns ? (end_ns - begin.up_ns) / 2 : 0);
      found_.means.push_back({mean_passage(stretch, begin, middle_ns), arrived});
    } else if (const auto mean = mean_of_cuts(from.up.packets, to.up.packets)) {
      found_.means.push_back({*mean, arrived});
    }
  }

  /// Returns the mean of the cuts from one packet of UP to another, also of those that others overtook.
  std::optional<Passage> mean_of_cuts(std::uint64_t from, std::uint64_t to) const {
    const auto begin = std::ranges::lower_bound(cuts_, from, {}, [](const Point& cut) { return cut.up.packets; });
    std::int64_t count = 0, up_sum = 0, difference_sum = 0;
    for (auto cut = begin; cut != cuts_.end() && cut->up.packets <= to; ++cut, ++count) {
      up_sum += static_cast<std::int64_t>(cut->passage->up_ns - begin->passage->up_ns);
      difference_sum += cut->passage->difference_ns - begin->passage->difference_ns;
    }
    if (count == 0) return std::nullopt;
    return Passage{begin->passage->up_ns + static_cast<std::uint64_t>(up_sum / count),
                   begin->passage->difference_ns + difference_sum / count};
  }

  std::vector<Point> cuts_, points_;
  Passage first_;  ///< of the first packets that the taps saw
  std::uint64_t last_ns_;
  std::int64_t net_at_ends_ = 0;  ///< lost next to the first and the last cut, if those are not ends of the flow
  CutFlow found_;
};

}  // namespace

std::optional<CutFlow> compare_cuts(const TapSums& up, const TapSums& down, FlowEnds watched) {
  constexpr std::uint64_t kMostPackets = std::uint64_t{1} << 48;  // of a flow; a broken file may say more
  if (up.all.packets > kMostPackets || down.all.packets > kMostPackets) return std::nullopt;
  std::vector<Point> cuts = common_cuts(up, down), points = cuts;
  keep_in_order(points);
  if (watched == FlowEnds::beginning || watched == FlowEnds::both) points.insert(points.begin(), Point{});
  if (watched == FlowEnds::end || watched == FlowEnds::both) points.push_back({up.all, down.all, std::nullopt, 0});
  if (points.size() < 2) return std::nullopt;
  return CutComparer(std::move(cuts), std::move(points), up, down).compare();
}

}  // namespace parshall
