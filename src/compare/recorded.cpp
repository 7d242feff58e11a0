// SPDX-License-Identifier: Apache-2.0
#include "compare/recorded.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "compare/pairing.hpp"
#include "compare/recorded_clocks.hpp"

namespace parshall {
namespace {

constexpr std::size_t index(Way way) noexcept { return static_cast<std::size_t>(way); }

/// Delays of a flow, or of all.
struct DelaySums {
  double sum = 0;  ///< of the delays of `packets` packets
  std::uint64_t packets = 0;
  bool is_exact = true;
  std::vector<std::pair<std::int64_t, std::uint64_t>> samples;  ///< delays, and the packets that each stands for

  void add(const DelaySums& other) {
    sum += other.sum, packets += other.packets, is_exact &= other.is_exact;
    samples.insert(samples.end(), other.samples.begin(), other.samples.end());
  }
};

/// Sums up delays of which the percentiles are those of samples.
Delays delays_of(DelaySums sums) {
  if (sums.packets == 0) return {};
  Delays delays{.packets = sums.packets,
                .mean = sums.sum / static_cast<double>(sums.packets),
                .samples = sums.samples.size(),
                .mean_is_exact = sums.is_exact};
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

class Comparer {
 public:
  Comparer(const RecordSet& up, const RecordSet& down) : flows_(join(up, down)), clocks_(up, down, flows_) {}

  Comparison compare() {
    found_.by = ComparedBy::records;
    found_.clocks = clocks_.clocks();
    for (std::size_t i = 0; i < flows_.size(); ++i) add(flows_[i], clocks_.way_of(i));
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
    const auto cuts = flow.is_at_both() ? flow.cuts(ends) : std::nullopt;
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
    add_delays(flow, cuts, way, !is_outside, compared.passed);
    found_.total(way).add_counts(compared.passed);
  }

  void add_delays(const JoinedFlow& flow, const std::optional<CutFlow>& cuts, Way way, bool is_watched,
                  Passed& passed) {
    const auto delay_of = [&](const Passage& passage) {
      const std::int64_t difference = found_.clocks.true_difference_ns(passage);
      return way == Way::there ? difference : -difference;
    };
    DelaySums sums;
    if (cuts) {
      for (const CutFlow::Sample& mean : cuts->means) {
        sums.sum += static_cast<double>(delay_of(mean.passage)) * static_cast<double>(mean.weight);
        sums.packets += mean.weight;
      }
      for (const CutFlow::Sample& sample : cuts->samples)
        sums.samples.emplace_back(delay_of(sample.passage), sample.weight);
      sums.is_exact = cuts->is_exact && sums.packets == flow.up->packets;
    } else if (is_watched && flow.up->packets == flow.down->packets) {  // of its first and its last packet
      sums.samples.emplace_back(delay_of({flow.up->first_ns, difference_of(flow.up->first_ns, flow.down->first_ns)}),
                                1);
      if (flow.up->packets > 1)
        sums.samples.emplace_back(delay_of({flow.up->last_ns, difference_of(flow.up->last_ns, flow.down->last_ns)}), 1);
      for (const auto& [delay, weight] : sums.samples) sums.sum += static_cast<double>(delay);
      sums.packets = sums.samples.size();
      sums.is_exact = sums.packets == flow.up->packets;
    }
    delays_[index(way)].add(sums);
    passed.delays = delays_of(std::move(sums));
  }

  std::vector<JoinedFlow> flows_;
  RecordedClocks clocks_;
  DelaySums delays_[2];
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

Comparison compare(const RecordSet& up, const RecordSet& down) { return Comparer(up, down).compare(); }

}  // namespace parshall
