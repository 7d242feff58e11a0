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

/// How the packets at two taps differ. A repeat that one tap alone saw is a packet more there. If the numbers of
/// packets do not show it, another one is missing.
struct Difference {
  std::int64_t net = 0;      ///< packets at UP less those at DOWN
  std::int64_t repeats = 0;  ///< those at UP less those at DOWN

  std::uint64_t at_up_alone() const noexcept { return positive(repeats) + positive(net - repeats); }
  std::uint64_t at_down_alone() const noexcept { return positive(-repeats) + positive(repeats - net); }

 private:
  static std::uint64_t positive(std::int64_t number) noexcept {
    return number > 0 ? static_cast<std::uint64_t>(number) : 0;
  }
};

/// The packets between two points.
struct Segment {
  PacketSums up, down;

  bool is_whole() const noexcept { return up.packets == down.packets && up.names == down.names; }
  Difference difference() const noexcept {
    constexpr unsigned kUnused = 64 - 24;
    const auto repeats = static_cast<std::int64_t>((up.repeats - down.repeats) << kUnused) >> kUnused;
    return {static_cast<std::int64_t>(up.packets - down.packets),
            std::clamp(repeats, -static_cast<std::int64_t>(down.packets), static_cast<std::int64_t>(up.packets))};
  }
};

Segment between(const Point& from, const Point& to) noexcept { return {to.up - from.up, to.down - from.down}; }

/// Returns the mean of times that sum up to `sum_ns`, told from `base_ns`; nullopt if the sum may have wrapped around,
/// as packets are up to `span_ns` away.
std::optional<std::int64_t> mean_since(std::uint64_t base_ns, std::uint64_t sum_ns, std::uint64_t packets,
                                       std::uint64_t span_ns) noexcept {
  constexpr __int128 kMost = __int128{1} << 62;
  if (__int128{packets} * span_ns > kMost) return std::nullopt;
  return static_cast<std::int64_t>(sum_ns - packets * base_ns) / static_cast<std::int64_t>(packets);
}

/// Returns the mean passage of as many packets at both taps. Their times are told from `from` at UP and DOWN, so that
/// sums do not wrap around; if that of UP's times still may, `middle_ns` stands for their mean.
Passage mean_passage(const Segment& segment, const Passage& from, std::uint64_t middle_ns,
                     std::uint64_t span_ns) noexcept {
  const std::uint64_t packets = segment.up.packets, base_ns = static_cast<std::uint64_t>(from.difference_ns);
  const auto later = static_cast<std::int64_t>(segment.down.times_ns - segment.up.times_ns - packets * base_ns);
  const std::int64_t difference_ns = from.difference_ns + later / static_cast<std::int64_t>(packets);
  const auto since = mean_since(from.up_ns, segment.up.times_ns, packets, span_ns);
  return {since ? from.up_ns + static_cast<std::uint64_t>(*since) : middle_ns, difference_ns};
}

class CutComparer {
 public:
  /// `cuts`: all common cuts, in the order of UP; `points`: those in the same order at both taps, and ends of the flow.
  CutComparer(std::vector<Point> cuts, std::vector<Point> points, const TapSums& up, const TapSums& down)
      : cuts_(std::move(cuts)),
        points_(std::move(points)),
        first_{up.first_ns, difference_of(up.first_ns, down.first_ns)},
        last_up_ns_(up.last_ns),
        last_down_ns_(down.last_ns) {}

  CutFlow compare() {
    const Segment all = between(points_.front(), points_.back());
    found_.packets_up = all.up.packets;
    found_.packets_down = all.down.packets;
    found_.is_unlike = cuts_.empty() && all.up.packets == all.down.packets && !all.is_whole();
    for (const Point& cut : cuts_) found_.samples.push_back({*cut.passage, cut.weight});
    for (std::size_t from = 0; from + 1 < points_.size();) {
      std::size_t to = from + 1;
      if (!is_whole(from))
        while (const std::size_t next = next_to_join(to)) to = next + 1;
      add_stretch(points_[from], points_[to]);
      from = to;
    }
    found_.lost += at_ends_.at_up_alone();
    found_.more += at_ends_.at_down_alone();
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
    if (stretch.is_whole()) return add_mean(from, to, 0, 0);
    const Difference difference = stretch.difference();
    std::uint64_t lost = difference.at_up_alone(), more = difference.at_down_alone();
    if (lost == 0 && more == 0) lost = more = 1;  // as many packets, but others
    add_mean(from, to, lost, more);
    if (is_near(points_.front(), from) || is_near(to, points_.back())) {
      // Packets may have overtaken the first cut or the last one.
      at_ends_.net += difference.net;
      at_ends_.repeats += difference.repeats;
    } else {
      found_.lost += lost;
      found_.more += more;
    }
  }

  void add_mean(const Point& from, const Point& to, std::uint64_t lost, std::uint64_t more) {
    const Segment stretch = between(from, to);
    if (stretch.up.packets <= lost) return;
    CutFlow::Mean& mean = found_.means.emplace_back();
    mean.weight = stretch.up.packets - lost;
    const Passage begin = from.passage.value_or(first_);
    const std::uint64_t span_ns = span_of(begin, to);
    mean.is_exact = lost + more == 0;
    if (mean.is_exact) {
      mean.of_sums = mean_passage(stretch, begin, begin.up_ns + span_ns / 2, 2 * span_ns);
      return;
    }
    set_mean_of_sums(stretch, begin, span_ns, lost, more, mean);
    set_mean_of_cuts(from.up.packets, to.up.packets, mean);
  }

  /// Returns the time that a stretch takes, by the tap at which it takes longer: the other one may have lost its ends.
  std::uint64_t span_of(const Passage& begin, const Point& to) const noexcept {
    const std::uint64_t up_end_ns = to.passage ? to.passage->up_ns : last_up_ns_;
    const std::uint64_t down_ns = begin.up_ns + static_cast<std::uint64_t>(begin.difference_ns);
    const std::uint64_t down_end_ns =
        to.passage ? to.passage->up_ns + static_cast<std::uint64_t>(to.passage->difference_ns) : last_down_ns_;
    const auto span = [](std::uint64_t from_ns, std::uint64_t to_ns) { return to_ns > from_ns ? to_ns - from_ns : 0; };
    return std::max(span(begin.up_ns, up_end_ns), span(down_ns, down_end_ns));
  }

  /// Takes those that did not arrive, or came in addition, for the middle of the stretch.
  static void set_mean_of_sums(const Segment& stretch, const Passage& begin, std::uint64_t span_ns, std::uint64_t lost,
                               std::uint64_t more, CutFlow::Mean& mean) {
    const std::uint64_t down_ns = begin.up_ns + static_cast<std::uint64_t>(begin.difference_ns);
    const auto up = mean_since(begin.up_ns, stretch.up.times_ns, stretch.up.packets, 2 * span_ns);
    const auto down = mean_since(down_ns, stretch.down.times_ns, stretch.down.packets, 2 * span_ns);
    if (!up || !down) return;
    const double arrived = static_cast<double>(mean.weight), middle = static_cast<double>(span_ns) / 2;
    const auto of_arrived = [&](std::int64_t all, std::uint64_t others) {
      return static_cast<double>(all) + static_cast<double>(others) / arrived * (static_cast<double>(all) - middle);
    };
    const double up_mean = of_arrived(*up, lost), later = of_arrived(*down, more) - up_mean;
    mean.of_sums = Passage{begin.up_ns + static_cast<std::uint64_t>(std::max(up_mean, 0.0)),
                           begin.difference_ns + static_cast<std::int64_t>(later)};
    mean.most_off_ns = static_cast<double>(lost + more) / arrived * middle;
  }

  /// Takes the mean of the cuts from one packet of UP to another, also of those that others overtook, each for the
  /// packets of its record.
  void set_mean_of_cuts(std::uint64_t from, std::uint64_t to, CutFlow::Mean& mean) const {
    const auto begin = std::ranges::lower_bound(cuts_, from, {}, [](const Point& cut) { return cut.up.packets; });
    double weights = 0, squares = 0, up_sum = 0, difference_sum = 0;
    for (auto cut = begin; cut != cuts_.end() && cut->up.packets <= to; ++cut) {
      const auto weight = static_cast<double>(cut->weight);
      weights += weight;
      squares += weight * weight;
      up_sum += weight * static_cast<double>(cut->passage->up_ns - begin->passage->up_ns);
      difference_sum += weight * static_cast<double>(cut->passage->difference_ns - begin->passage->difference_ns);
    }
    if (weights == 0) return;
    mean.of_cuts = Passage{begin->passage->up_ns + static_cast<std::uint64_t>(up_sum / weights),
                           begin->passage->difference_ns + static_cast<std::int64_t>(difference_sum / weights)};
    mean.cuts = weights * weights / squares;
  }

  std::vector<Point> cuts_, points_;
  Passage first_;  ///< of the first packets that the taps saw
  std::uint64_t last_up_ns_, last_down_ns_;
  Difference at_ends_;  ///< next to the first and the last cut, if those are not ends of the flow
  CutFlow found_;
};

}  // namespace

std::optional<CutFlow> compare_cuts(const TapSums& up, const TapSums& down, FlowEnds watched) {
  constexpr std::uint64_t kMostPackets = std::uint64_t{1} << 40;  // of a flow; a broken file may say more
  if (up.all.packets > kMostPackets || down.all.packets > kMostPackets) return std::nullopt;
  std::vector<Point> cuts = common_cuts(up, down), points = cuts;
  keep_in_order(points);
  if (watched == FlowEnds::beginning || watched == FlowEnds::both) points.insert(points.begin(), Point{});
  if (watched == FlowEnds::end || watched == FlowEnds::both) points.push_back({up.all, down.all, std::nullopt, 0});
  if (points.size() < 2) return std::nullopt;
  return CutComparer(std::move(cuts), std::move(points), up, down).compare();
}

}  // namespace parshall
