// SPDX-License-Identifier: Apache-2.0
// Question: how far is a reported 99th percentile from the exact one, by the length of the flow?
// Unit: percent of the exact value; median and 95th percentile over flows. Prints a table in Markdown.
#include <fmt/format.h>

#include "one_flow.hpp"
#include "traffic.hpp"

namespace {

using namespace parshall;

constexpr std::array kTraffic{
    Distribution{"gap: one of 65,536 equal flows (exponential)",
                 [](std::mt19937_64& r) { return whole(exponential(r, 65'536)); }},
    Distribution{"gap: bursts (70 % zero, else exponential)",
                 [](std::mt19937_64& r) { return unit_interval(r) < 0.7 ? 0 : whole(exponential(r, 65'536)); }},
    Distribution{"inter-arrival: trains (90 % 1 to 13 us, else lognormal pauses)",
                 [](std::mt19937_64& r) {
                   return unit_interval(r) < 0.9 ? 1'000 + r() % 12'000 : whole(lognormal(r, 15, 1.5));
                 }},
    Distribution{"inter-arrival: lognormal (sigma 1.5)",
                 [](std::mt19937_64& r) { return whole(lognormal(r, 12, 1.5)); }},
    Distribution{"size: bulk (30 % 66, 10 % 67 to 1513, 60 % 1514 bytes)",
                 [](std::mt19937_64& r) {
                   const double kind = unit_interval(r);
                   return kind < 0.3 ? 66 : kind < 0.4 ? 67 + r() % 1447 : std::uint64_t{1514};
                 }},
    Distribution{"size: interactive (60 to 1514 bytes, lognormal)",
                 [](std::mt19937_64& r) { return std::min<std::uint64_t>(1514, 60 + whole(lognormal(r, 4, 1))); }},
};

double relative_error_percent(const std::vector<std::uint64_t>& samples, QuantileMethod method, double exact) {
  OneFlow flow({"gap_p99"}, {method, 0.05});
  flow.add(samples);
  return 100 * std::abs(*flow["gap_p99_packets"] - exact) / std::max(1.0, exact);
}

double nearest_rank_of(std::vector<double>& values, double probability) {
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(std::ceil(probability * static_cast<double>(values.size()))) - 1];
}

void print_row(const Distribution& distribution, std::size_t length) {
  constexpr std::size_t kFlows = 500;
  std::vector<double> p2, histogram;
  for (std::size_t flow = 0; flow < kFlows; ++flow) {
    const auto samples = draw(distribution, length, 1'000'003 * flow + length);
    auto sorted = samples;
    std::ranges::sort(sorted);
    const auto exact = static_cast<double>(sorted[(99 * length + 99) / 100 - 1]);
    p2.push_back(relative_error_percent(samples, QuantileMethod::p2, exact));
    histogram.push_back(relative_error_percent(samples, QuantileMethod::histogram, exact));
  }
  fmt::print("| {} | {} | {:.1f} | {:.1f} | {:.1f} | {:.1f} |\n", distribution.name, length, nearest_rank_of(p2, 0.5),
             nearest_rank_of(p2, 0.95), nearest_rank_of(histogram, 0.5), nearest_rank_of(histogram, 0.95));
}

}  // namespace

int main() {
  fmt::print("| samples | flow length | P-square median | 95th pct | histogram median | 95th pct |\n");
  fmt::print("|---|---:|---:|---:|---:|---:|\n");
  for (const Distribution& distribution : kTraffic) {
    for (const std::size_t length : {10, 100, 1'000, 10'000, 100'000}) print_row(distribution, length);
  }
}
