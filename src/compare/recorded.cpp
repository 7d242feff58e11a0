// SPDX-License-Identifier: Apache-2.0
#include "compare/recorded.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "compare/pairing.hpp"
#include "compare/recorded_clocks.hpp"

namespace parshall {
namespace {

/// Delays of a flow, or of all.
struct DelaySums {
  double sum = 0;  ///< of the delays of `packets` packets
  std::uint64_t packets = 0;
  double most_off = 0, variance = 0;  ///< of `sum`: the sum of bounds, and the square of twice its standard deviation
  bool is_error_known = true;
  std::vector<std::pair<std::int64_t, std::uint64_t>> samples;  ///< delays, and the packets that each stands for

  void add(const DelaySums& other) {
    sum += other.sum, packets += other.packets;
    most_off += other.most_off, variance += other.variance, is_error_known &= other.is_error_known;
    samples.insert(samples.end(), other.samples.begin(), other.samples.end());
  }
  void add_mean(double mean, std::uint64_t weight) {
    sum += mean * static_cast<double>(weight);
    packets += weight;
  }
};

/// Returns the standard deviation of samples.
double deviation_of(std::span<const std::pair<std::int64_t, std::uint64_t>> samples) {
  double mean = 0, squares = 0, count = 0;
  for (const auto& [delay, weight] : samples) {
    const double step = static_cast<double>(delay) - mean;
    mean += step / ++count;
    squares += step * (static_cast<double>(delay) - mean);
  }
  return count < 2 ? 0 : std::sqrt(squares / (count - 1));
}

/// Returns about the 97.5th percentile of Student's t distribution: within 3 % from 2 degrees of freedom on.
double student(double freedom) { return 1.96 + 2.6 / freedom + 4 / (freedom * freedom); }

/// Sums up delays of which the percentiles are those of samples.
Delays delays_of(DelaySums sums) {
  if (sums.packets == 0) return {};
  const auto packets = static_cast<double>(sums.packets);
  Delays delays{.packets = sums.packets,
                .mean = sums.sum / packets,
                .samples = sums.samples.size(),
                .mean_error = sums.is_error_known ? std::optional((sums.most_off + std::sqrt(sums.variance)) / packets)
                                                  : std::nullopt};
  if (sums.samples.empty()) return delays;
  std::ranges::sort(sums.samples);
  std::uint64_t all = 0;
  for (const auto& [delay, weight] : sums.samples) all += weight;
  const auto percentile = [&](std::uint64_t percent) {
    std::uint64_t up_to = 0;
    for (const auto& [delay, weight] : sums.samples)
      if ((up_to += weight) * 100 >= all * percent) return delay;
    return sums.samples.back().first;
  };
  delays.least = sums.samples.front().first;
  delays.p50 = percentile(50);
  delays.p90 = percentile(90);
  delays.p99 = percentile(99);
  delays.most = sums.samples.back().first;
  return delays;
}

class RecordComparer {
 public:
  RecordComparer(const RecordSet& up, const RecordSet& down) : flows_(join(up, down)), clocks_(up, down, flows_) {}

  Comparison compare() {
    found_.by = ComparedBy::records;
    found_.clocks = clocks_.clocks();
    for (std::size_t i = 0; i < flows_.size(); ++i) add(flows_[i], clocks_.way_of(i));
    for (UncertainFlow& flow : uncertain_) add_uncertain_means(flow);
    for (const Way way : {Way::there, Way::back}) found_.total(way).delays = delays_of(std::move(delays_[index(way)]));
    found_.sort_flows();
    return std::move(found_);
  }

 private:
  /// Takes from both as many as the smaller has. Returns how many.
  static std::uint64_t cancel(std::uint64_t& a, std::uint64_t& b) noexcept {
    const std::uint64_t both = std::min(a, b);
    a -= both, b -= both;
    return both;
  }

  void add(const JoinedFlow& flow, Way way) {
    ComparedFlow& compared = found_.flows.emplace_back();
    const RecordedFlow& sender = way == Way::there ? *flow.up : *flow.down;
    compared.key = flow.up->packets != 0 ? flow.up->key : flow.down->key;
    compared.way = way;
    compared.first_ns = sender.first_ns;
    compared.last_ns = sender.last_ns;
    const FlowEnds ends = clocks_.watched(flow, way);
    auto cuts = flow.is_at_both() ? flow.cuts(ends) : std::nullopt;
    FlowCount count;
    std::uint64_t up = flow.up->packets,
                  down = flow.down->packets;  // before the first common cut, or behind the last one
    if (cuts && cuts->is_unlike) {
      count.up.plain = up, count.down.plain = down;
      up = down = 0;
    } else if (cuts) {
      count.pairs = cuts->packets_up - cuts->lost;
      count.up.twins = cuts->lost;
      count.down.twins = cuts->more;
      up -= cuts->packets_up;
      down -= cuts->packets_down;
    }
    const bool is_outside = ends != FlowEnds::both;
    const auto surplus_of = [&](FlowCount::OneTap& tap) -> std::uint64_t& {
      return is_outside ? tap.outside : flow.is_at_both() ? tap.twins : tap.plain;
    };
    const std::uint64_t both = std::min(up, down);
    count.pairs += both;
    surplus_of(count.up) += up - both;
    surplus_of(count.down) += down - both;
    if (is_outside) {  // a packet that overtook the last common cut is missing before it, and more behind it
      count.pairs += cancel(count.up.twins, count.down.outside) + cancel(count.down.twins, count.up.outside);
    }
    compared.passed = count.passed(way);
    add_delays(flow, std::move(cuts), way, !is_outside, compared.passed);
    found_.total(way).add_counts(compared.passed);
  }

  /// A flow of which some mean delays are estimates.
  struct UncertainFlow {
    std::size_t number;  ///< in found_.flows
    CutFlow cuts;
    DelaySums sums;  ///< of the others
  };

  std::int64_t delay_of(const Passage& passage, Way way) const {
    const std::int64_t difference = found_.clocks.true_difference_ns(passage);
    return way == Way::there ? difference : -difference;
  }

  void add_delays(const JoinedFlow& flow, std::optional<CutFlow> cuts, Way way, bool is_watched, Passed& passed) {
    DelaySums sums;
    if (cuts) {
      for (const CutFlow::Mean& mean : cuts->means)
        if (mean.is_exact) sums.add_mean(static_cast<double>(delay_of(*mean.of_sums, way)), mean.weight);
      for (const CutFlow::Sample& sample : cuts->samples)
        sums.samples.emplace_back(delay_of(sample.passage, way), sample.weight);
      if (!std::ranges::all_of(cuts->means, &CutFlow::Mean::is_exact)) {
        samples_[index(way)].insert(samples_[index(way)].end(), sums.samples.begin(), sums.samples.end());
        uncertain_.push_back({found_.flows.size() - 1, *std::move(cuts), std::move(sums)});
        return;
      }
    } else if (is_watched && flow.up->packets == flow.down->packets) {  // of its first and its last packet
      const auto add = [&](std::uint64_t up_ns, std::uint64_t down_ns) {
        sums.samples.emplace_back(delay_of({up_ns, difference_of(up_ns, down_ns)}, way), 1);
        sums.add_mean(static_cast<double>(sums.samples.back().first), 1);
      };
      add(flow.up->first_ns, flow.down->first_ns);
      if (flow.up->packets > 1) add(flow.up->last_ns, flow.down->last_ns);
      sums.is_error_known = sums.packets == flow.up->packets;
    }
    add_sums(std::move(sums), way, passed);
  }

  /// Takes the better of two estimates for each mean. That of cuts is as good as the delays of the flow's cuts are
  /// alike; of few cuts, those of all such flows that go its way. Delays are often far from a normal distribution, so
  /// that a mean of few cuts may be further off than their number says: hence the degrees of freedom.
  void add_uncertain_means(UncertainFlow& flow) {
    constexpr std::size_t kFew = 30;
    ComparedFlow& compared = found_.flows[flow.number];
    const Way way = compared.way;
    const auto& samples = flow.sums.samples.size() < kFew ? samples_[index(way)] : flow.sums.samples;
    const double deviation = deviation_of(samples);
    for (const CutFlow::Mean& mean : flow.cuts.means) {
      if (mean.is_exact) continue;
      const auto weight = static_cast<double>(mean.weight);
      const double error = mean.of_cuts ? student(mean.cuts) * deviation / std::sqrt(mean.cuts) : 0;
      // Equal delays of all cuts say nothing about those of other packets.
      if (mean.of_cuts && error > 0 && (!mean.of_sums || error < mean.most_off_ns)) {
        flow.sums.add_mean(static_cast<double>(delay_of(*mean.of_cuts, way)), mean.weight);
        flow.sums.variance += weight * weight * error * error;
      } else if (mean.of_sums) {
        flow.sums.add_mean(static_cast<double>(delay_of(*mean.of_sums, way)), mean.weight);
        flow.sums.most_off += weight * std::max(mean.most_off_ns, 1.0);
      } else {
        flow.sums.is_error_known = false;
      }
    }
    add_sums(std::move(flow.sums), way, compared.passed);
  }

  void add_sums(DelaySums sums, Way way, Passed& passed) {
    delays_[index(way)].add(sums);
    passed.delays = delays_of(std::move(sums));
  }

  std::vector<JoinedFlow> flows_;
  RecordedClocks clocks_;
  DelaySums delays_[2];
  std::vector<UncertainFlow> uncertain_;
  std::vector<std::pair<std::int64_t, std::uint64_t>> samples_[2];  ///< of uncertain flows that go that way
  Comparison found_;
};

}  // namespace

std::optional<Error> settings_problem(const std::string& up_name, const RecordSet& up, const std::string& down_name,
                                      const RecordSet& down) {
  if (up.settings.empty() || down.settings.empty()) return std::nullopt;
  for (const auto& [option, value] : up.settings) {
    const std::string& other = down.settings.at(option);
    if (value == other) continue;
    if (option == "--seed")
      return Error{fmt::format("{} and {} had different seeds (checks {} and {}): give both taps the same --seed",
                               up_name, down_name, value, other)};
    return Error{fmt::format("{} had {} {}, and {} had {} {}: they name flows differently", up_name, option, value,
                             down_name, option, other)};
  }
  return std::nullopt;
}

Comparison compare(const RecordSet& up, const RecordSet& down) { return RecordComparer(up, down).compare(); }

}  // namespace parshall
