// SPDX-License-Identifier: Apache-2.0
#include "compare/clocks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace parshall {
namespace {

constexpr double kMostDrift = 500e-6;        ///< of clocks that are not broken; a steeper line is a queue that fills
constexpr std::size_t kFewestPackets = 100;  ///< whose line says something of the drift
constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

std::int64_t least(std::span<const Passage> passages) {
  return std::ranges::min(passages, {}, &Passage::difference_ns).difference_ns;
}

/// Mirrors differences, so that what is above becomes what is below.
void mirror(std::vector<Passage>& passages) {
  for (Passage& passage : passages) passage.difference_ns = -passage.difference_ns;
}

/// Sorts the points by time, and returns the slope of the line below all points whose summed distance to them is least:
/// an edge of their lower convex hull, the one around their mean time.
double slope_below(std::vector<Passage>& passages) {
  std::ranges::sort(passages, {}, [](const Passage& one) { return std::pair(one.up_ns, one.difference_ns); });
  const std::uint64_t from_ns = passages.front().up_ns;
  const std::int64_t base_ns = passages.front().difference_ns;
  struct Point {
    double x, y;
  };
  std::vector<Point> hull;
  double sum = 0;
  for (const Passage& passage : passages) {
    const Point point{static_cast<double>(passage.up_ns - from_ns),
                      static_cast<double>(passage.difference_ns - base_ns)};
    sum += point.x;
    if (!hull.empty() && hull.back().x == point.x) continue;  // above it
    while (hull.size() >= 2) {
      const Point &a = hull[hull.size() - 2], &b = hull.back();
      if ((b.y - a.y) * (point.x - a.x) < (point.y - a.y) * (b.x - a.x)) break;
      hull.pop_back();
    }
    hull.push_back(point);
  }
  const double mean = sum / static_cast<double>(passages.size());
  for (std::size_t i = 1; i < hull.size(); ++i)
    if (hull[i].x >= mean) {
      const double slope = (hull[i].y - hull[i - 1].y) / (hull[i].x - hull[i - 1].x);
      return std::abs(slope) <= kMostDrift && passages.size() >= kFewestPackets ? slope : 0;
    }
  return 0;
}

/// Returns the least difference that is left when the drift is taken off.
std::int64_t least_left(std::span<const Passage> passages, std::uint64_t at_ns, double drift) {
  std::int64_t left_ns = kLargest;
  for (const Passage& passage : passages)
    left_ns = std::min(left_ns, Clocks{.at_ns = at_ns, .drift = drift}.true_difference_ns(passage));
  return left_ns;
}

}  // namespace

std::int64_t Clocks::true_difference_ns(const Passage& passage) const noexcept {
  const auto elapsed_ns = static_cast<double>(static_cast<std::int64_t>(passage.up_ns - at_ns));
  return passage.difference_ns - offset_ns - (drift == 0 ? 0 : std::llround(elapsed_ns * drift));
}

Clocks compare_clocks(std::vector<Passage> there, std::vector<Passage> back) {
  mirror(back);
  Clocks clocks;
  if (there.empty() && back.empty()) return clocks;
  const std::int64_t there_ns = there.empty() ? kLargest : least(there),
                     back_ns = back.empty() ? kLargest : least(back);
  const bool goes_both_ways = !there.empty() && !back.empty();
  clocks.kind = goes_both_ways ? Clocks::Kind::agree : Clocks::Kind::not_checked;
  if (goes_both_ways) clocks.error_ns = std::max(there_ns, back_ns);
  if (there_ns >= 0 && back_ns >= 0) return clocks;

  const double there_slope = there.empty() ? 0 : slope_below(there), back_slope = back.empty() ? 0 : -slope_below(back);
  clocks.at_ns = (there.empty() ? back : there).front().up_ns;  // sorted by now
  const auto there_count = static_cast<double>(there.size()), back_count = static_cast<double>(back.size());
  clocks.drift = (there_slope * there_count + back_slope * back_count) / (there_count + back_count);
  const std::int64_t most_ns = least_left(there, clocks.at_ns, clocks.drift);
  const std::int64_t least_ns = -least_left(back, clocks.at_ns, -clocks.drift);
  if (!goes_both_ways) {
    clocks.kind = Clocks::Kind::one_way;
    clocks.offset_ns = there.empty() ? least_ns : most_ns;
    return clocks;
  }
  clocks.kind = least_ns <= most_ns ? Clocks::Kind::corrected : Clocks::Kind::uneven;
  clocks.offset_ns = std::midpoint(least_ns, most_ns);
  clocks.error_ns = std::abs(most_ns - least_ns) / 2;
  return clocks;
}

}  // namespace parshall
