// SPDX-License-Identifier: Apache-2.0
#include "control/recall.hpp"

#include <algorithm>
#include <cmath>

namespace parshall {
namespace {

constexpr double kHighVariation = 1, kLambda = 3;

/// Returns the value that Student's t is below in 95 of 100 cases.
double one_sided_95(double degrees) noexcept {
  constexpr std::array<double, 10> kFew{6.314, 6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833};
  // For many degrees it is 1.645 plus a little; correct to three digits from ten on.
  return degrees < kFew.size() ? kFew[static_cast<std::size_t>(degrees)]
                               : 1.645 + 1.53 / degrees + 1.4 / (degrees * degrees);
}

double recall_of(double found, double missed) noexcept { return missed > 0 ? found / (found + missed) : 1; }

}  // namespace

void RecallEstimator::add_window(std::uint64_t flows, double events, double squares) noexcept {
  events_ = events;
  blind_ = flows == 0 ? blind_ + 1 : 0;
  if (flows == 0) return;
  const auto n = static_cast<double>(flows);
  const double mean = events / n;
  const double sampled = flows > 1 ? std::max(0.0, (squares - events * mean) / (n - 1)) : 0;
  // Equal flows do not prove that all are: add one flow, of another kind (Laplace).
  const double other = 1 / (n + 2);
  windows_[added_++ % kWindows] = {n, mean, std::max(sampled, other * (1 - other))};
}

std::optional<RecallEstimator::Moments> RecallEstimator::moments() const noexcept {
  const std::size_t count = std::min(added_, kWindows);
  if (count == 0) return std::nullopt;
  const auto n = static_cast<double>(count);
  double weights = 0, weighted = 0, plain_mean = 0, flows = 0, variance = 0, sampling = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Window& window = windows_[i];
    const double weight = std::sqrt(window.flows / window.variance);
    weights += weight;
    weighted += weight * window.mean;
    plain_mean += window.mean / n;
    flows += window.flows;
    variance += window.flows * window.variance;
    sampling += window.variance / window.flows / n;
  }
  double squares = 0;
  for (std::size_t i = 0; i < count; ++i) squares += (windows_[i].mean - plain_mean) * (windows_[i].mean - plain_mean);
  const double between = count > 1 ? squares / (n - 1) : 0;
  return Moments{.windows = n,
                 .flows = flows,
                 .mean = weighted / weights,
                 .between_sd = std::sqrt(between),
                 .rate_sd = std::sqrt(std::max(0.0, between - sampling)),
                 .within_variance = variance / flows};
}

std::optional<double> RecallEstimator::missed_events_per_flow() const noexcept {
  const auto known = moments();
  if (!known) return std::nullopt;
  const bool varies = known->rate_sd > kHighVariation * known->mean;
  return known->mean + (varies ? kLambda * known->rate_sd : 0);
}

std::optional<RecallEstimator::Missed> RecallEstimator::missed(std::uint64_t flows) const noexcept {
  const auto known = moments();
  if (!known || blind_ >= kWindows) return std::nullopt;  // data that old says nothing
  const auto missed = static_cast<double>(flows);
  // The window in which flows were left out may have a higher rate than the ones before.
  const Window& last = windows_[(added_ - 1) % kWindows];
  const double rate = std::max(known->mean, last.mean), variance = std::max(known->within_variance, last.variance);
  // The mean of the seen flows differs from the rate by the variation between windows or, if those are alike, between
  // flows. The sum over the unseen flows adds the variation between flows once more.
  const double t_between = one_sided_95(known->windows - 1), t_within = one_sided_95(known->flows - known->windows);
  const double between = t_between * known->between_sd * std::sqrt(1 + 1 / known->windows);
  const double sampled = t_within * std::sqrt(variance / last.flows);
  // Counts of few events are skewed, and are integers: use Poisson's law, for events of the size found here.
  const double event = rate > 0 ? variance / rate : 1;
  return Missed{.expected = missed * *missed_events_per_flow(),
                .by_rate = missed * rate,
                .chance = t_within * std::sqrt(missed * variance),
                .spread = missed * std::max(between, sampled),
                .lean = event * ((t_within * t_within - 1) / 6 + 0.5)};
}

std::optional<Recall> RecallEstimator::recall(std::uint64_t missed_flows) const noexcept {
  if (missed_flows == 0) return Recall{};
  const auto missed = this->missed(missed_flows);
  if (!missed) return std::nullopt;
  return Recall{recall_of(events_, missed->expected), recall_of(events_, missed->most())};
}

void RecallByWeight::add_window(const Counts& flows, const Counts& events, const Counts& in_part) noexcept {
  events_ = events;
  for (std::size_t weight = 0; weight < flows.size(); ++weight) {
    const auto found = static_cast<double>(events[weight] - in_part[weight]);
    by_weight_[weight].add_window(flows[weight], found, found);
  }
}

/// Returns the rate of flows of a weight that was never seen: that of the next lighter ones, doubled for each class
/// between, or that of the next heavier ones.
std::optional<double> RecallByWeight::rate(std::size_t weight) const noexcept {
  double times = 1;
  for (std::size_t lighter = weight + 1; lighter-- > 0; times *= 2)
    if (const auto known = by_weight_[lighter].missed_events_per_flow())
      return times == 1 ? *known : std::min(1.0, times * *known);
  for (std::size_t heavier = weight + 1; heavier < by_weight_.size(); ++heavier)
    if (const auto known = by_weight_[heavier].missed_events_per_flow()) return known;
  return std::nullopt;
}

std::optional<Recall> RecallByWeight::recall(const Counts& missed_flows) const noexcept {
  RecallEstimator::Missed all;
  double chance_squares = 0, events = 0;
  bool any_known = false;
  for (std::size_t weight = 0; weight < missed_flows.size(); ++weight) {
    events += static_cast<double>(events_[weight]);
    if (missed_flows[weight] == 0) continue;
    const auto flows = static_cast<double>(missed_flows[weight]);
    const auto missed = by_weight_[weight].missed(missed_flows[weight]);
    any_known |= missed.has_value();
    if (missed && (missed->most() < flows || missed->by_rate > flows)) {
      all.expected += missed->expected;
      all.by_rate += missed->by_rate;
      all.spread += missed->spread;  // rates rise and fall together
      all.lean = std::max(all.lean, missed->lean);
      chance_squares += missed->chance * missed->chance;
    } else {
      const auto expected = missed ? missed->expected / flows : rate(weight);
      all.expected += flows * expected.value_or(1);
      all.by_rate += flows;
    }
  }
  if (std::ranges::all_of(missed_flows, [](std::uint64_t flows) { return flows == 0; })) return Recall{};
  if (!any_known && std::ranges::none_of(by_weight_, &RecallEstimator::is_known)) return std::nullopt;
  all.chance = std::sqrt(chance_squares);
  return Recall{recall_of(events, all.expected), recall_of(events, all.most())};
}

}  // namespace parshall
