// SPDX-License-Identifier: Apache-2.0
#include "classify/c45_split.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace parshall::c45 {
namespace {

constexpr double kNearlyAverage = 1e-3;  // tolerance of a gain
constexpr double kMostForBranch = 25;    // most flows that a branch needs, however large the set

double x_log2_x(double x) noexcept { return x < kAlike ? 0 : x * std::log2(x); }

/// Returns the bits that encode the classes of all flows.
double entropy(const Weights& weights) noexcept {
  double bits = x_log2_x(weights.total);
  for (const double weight : weights.by_class) bits -= x_log2_x(weight);
  return bits;
}

struct Sides {
  Weights up_to, above;

  void move(std::size_t id, double weight) {
    above.add(id, -weight);
    up_to.add(id, weight);
  }
};

/// Returns the bits saved for each of `all` flows by the sides, counting flows with a known size.
double gain_of(const Sides& sides, double whole_entropy, double all) noexcept {
  return (whole_entropy - entropy(sides.up_to) - entropy(sides.above)) / all;
}

/// Returns the bits for each of `all` flows that encode its side; missing sizes are a side of their own.
double split_information(double up_to, double above, double all) noexcept {
  const double missing = all - up_to - above;
  return (x_log2_x(all) - x_log2_x(up_to) - x_log2_x(above) - x_log2_x(missing)) / all;
}

}  // namespace

Weights::Weights(const Samples& samples, std::span<const Case> cases) : Weights(samples.class_names.size()) {
  for (const Case& one : cases) add(samples.classes[one.flow], one.weight);
}

double Weights::heaviest() const noexcept { return by_class.empty() ? 0 : *std::ranges::max_element(by_class); }

Parts divide(const Samples& samples, std::span<const Case> cases, const Split& split) {
  Parts parts;
  std::vector<Case> missing;
  double known = 0, below = 0;
  for (const Case& one : cases) {
    const std::uint16_t size = samples.sizes_of(one.flow)[split.packet];
    if (size == Samples::kMissing) {
      missing.push_back(one);
      continue;
    }
    known += one.weight;
    if (size <= split.up_to) below += one.weight;
    (size <= split.up_to ? parts.up_to : parts.above).push_back(one);
  }
  const double share = known < kAlike ? 0.5 : below / known;
  for (const Case& one : missing) {
    if (share > kAlike) parts.up_to.push_back({one.flow, share * one.weight});
    if (1 - share > kAlike) parts.above.push_back({one.flow, (1 - share) * one.weight});
  }
  return parts;
}

Splitter::Splitter(const Samples& samples, std::uint32_t least_flows)
    : samples_(samples), least_flows_(std::max(least_flows, 1u)), seen_(samples.packets) {
  for (std::size_t at = 0; at < samples.sizes.size(); ++at)
    if (samples.sizes[at] != Samples::kMissing) seen_[at % samples.packets].push_back(samples.sizes[at]);
  for (auto& sizes : seen_) {
    std::ranges::sort(sizes);
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  }
}

/// Returns the least weight of each of two branches: a tenth of a class's fair part of the set, within bounds.
double Splitter::least_weight(double known) const noexcept {
  const double fair = 0.1 * known / static_cast<double>(samples_.class_names.size());
  return fair - least_flows_ < kAlike ? least_flows_ : std::min(fair, kMostForBranch);
}

/// Returns the greatest size in the whole training set that is not above `middle`.
std::uint16_t Splitter::seen_up_to(std::size_t packet, std::size_t middle) const {
  return *std::prev(std::ranges::upper_bound(seen_[packet], middle));
}

std::optional<Splitter::Candidate> Splitter::best_of_packet(std::span<const Case> cases, std::size_t packet,
                                                            double all) const {
  std::vector<Sized> sized;
  Sides sides{Weights(samples_.class_names.size()), Weights(samples_.class_names.size())};
  for (const Case& one : cases) {
    const std::uint16_t size = samples_.sizes_of(one.flow)[packet];
    if (size == Samples::kMissing) continue;
    sized.push_back({size, samples_.classes[one.flow], one.weight});
    sides.above.add(sized.back().id, one.weight);
  }
  const double known = sides.above.total, least = least_weight(known), whole_entropy = entropy(sides.above);
  if (2 * least - static_cast<double>(sized.size()) > kAlike) return std::nullopt;
  std::ranges::sort(sized, {}, &Sized::size);

  Candidate best{.packet = packet, .up_to = 0, .next = 0, .gain = 0, .ratio = 0};
  double up_to = 0, above = 0;
  std::size_t tried = 0;
  for (std::size_t at = 0; at + 1 < sized.size(); ++at) {
    sides.move(sized[at].id, sized[at].weight);
    if (sized[at].size == sized[at + 1].size) continue;
    if (least - sides.up_to.total > kAlike || least - sides.above.total > kAlike) continue;
    ++tried;
    const double gain = gain_of(sides, whole_entropy, all);
    if (gain - best.gain <= kAlike) continue;
    best = {packet, sized[at].size, sized[at + 1].size, gain, 0};
    up_to = sides.up_to.total;
    above = sides.above.total;
  }
  if (best.gain == 0) return std::nullopt;
  best.gain -= std::log2(static_cast<double>(tried)) / all;
  if (best.gain < kAlike) return std::nullopt;
  best.ratio = best.gain / split_information(up_to, above, all);
  return best;
}

std::optional<Split> Splitter::best(std::span<const Case> cases) const {
  const Weights weights(samples_, cases);
  if (2 * least_flows_ - weights.total > kAlike || weights.total - weights.heaviest() < kAlike) return std::nullopt;
  std::vector<Candidate> candidates;
  double gains = 0;
  for (std::size_t packet = 0; packet < samples_.packets; ++packet)
    if (const auto candidate = best_of_packet(cases, packet, weights.total)) {
      candidates.push_back(*candidate);
      gains += candidate->gain;
    }
  // The ratio alone would favour splits that separate only a few flows.
  const double average = gains / static_cast<double>(candidates.size());
  const Candidate* best = nullptr;
  for (const Candidate& candidate : candidates)
    if (candidate.gain >= average - kNearlyAverage && candidate.ratio - (best == nullptr ? 0 : best->ratio) > kAlike)
      best = &candidate;
  if (best == nullptr) return std::nullopt;
  const std::size_t middle = (std::size_t{best->up_to} + best->next) / 2;
  return Split{best->packet, seen_up_to(best->packet, middle)};
}

}  // namespace parshall::c45
