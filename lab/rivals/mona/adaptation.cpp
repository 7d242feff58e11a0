// SPDX-License-Identifier: Apache-2.0
#include "lab/rivals/mona/adaptation.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

namespace parshall::lab {
namespace {

constexpr double kRounding = 1e-12;  ///< relative to a cost: a target this close is met
constexpr std::uint32_t kLastHash = std::numeric_limits<std::uint32_t>::max();

/// Base states that have packets.
struct Packets {
  std::array<double, StateGraph::kMostStates> counts;
  std::array<std::uint8_t, StateGraph::kMostStates> states;
  std::size_t size = 0;
  double all = 0;

  Packets(const StateGraph& graph, std::span<const double> base_packets) noexcept {
    for (std::size_t i = 0; i < std::min(graph.size(), base_packets.size()); ++i) {
      if (base_packets[i] == 0) continue;
      states[size] = static_cast<std::uint8_t>(i);
      counts[size++] = base_packets[i];
      all += base_packets[i];
    }
  }

  double mean_cost_ns(const StateGraph& graph, std::size_t steps) const noexcept {
    const auto reached = graph.after(steps);
    const auto costs_ns = graph.costs_ns();
    double cost_ns = 0;
    for (std::size_t i = 0; i < size; ++i) cost_ns += counts[i] * costs_ns[reached[states[i]]];
    return all > 0 ? cost_ns / all : 0;
  }
};

}  // namespace

Shift shift_to(const StateGraph& graph, std::span<const double> base_packets, double target_ns) noexcept {
  const Packets packets(graph, base_packets);
  double less_ns = packets.mean_cost_ns(graph, 0);  // with the smaller number of steps
  if (!(less_ns > target_ns)) return {};
  double more_ns = packets.mean_cost_ns(graph, graph.depth());
  if (target_ns < more_ns * (1 - kRounding)) return {graph.depth(), 1, /*infeasible=*/true};
  if (!(less_ns > more_ns)) return {};
  target_ns = std::max(target_ns, more_ns);
  std::size_t less = 0, more = graph.depth();
  while (more - less > 1) {
    const std::size_t middle = (less + more) / 2;
    const double cost_ns = packets.mean_cost_ns(graph, middle);
    (cost_ns > target_ns ? less : more) = middle;
    (cost_ns > target_ns ? less_ns : more_ns) = cost_ns;
  }
  return {more, (less_ns - target_ns) / (less_ns - more_ns)};
}

Shift few_shift_to(const StateGraph& graph, std::span<const double> base_packets, double target_ns) noexcept {
  const Packets packets(graph, base_packets);
  const double own_ns = packets.mean_cost_ns(graph, 0), lightest_ns = packets.mean_cost_ns(graph, graph.depth());
  if (!(own_ns > target_ns)) return {};
  if (target_ns < lightest_ns * (1 - kRounding)) return {graph.depth(), 1, /*infeasible=*/true};
  if (!(own_ns > lightest_ns)) return {};
  return {graph.depth(), std::min(1.0, (own_ns - target_ns) / (own_ns - lightest_ns)), /*infeasible=*/false,
          /*others_stay=*/true};
}

std::optional<double> share_staying(const StateGraph& graph, Shift shift, std::span<const double> base_packets,
                                    std::uint64_t states) noexcept {
  const auto others = graph.after(shift.others_steps()), moved = graph.after(shift.steps);
  const std::array<double, 4> part{0, 1 - shift.share, shift.share, 1};  // indexed by which of the two are among the
                                                                         // states
  double staying = 0, all = 0;
  for (std::uint64_t left = states; left != 0; left &= left - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(left));
    if (i >= std::min(graph.size(), base_packets.size())) break;
    const double packets = std::max(0.0, base_packets[i]);
    all += packets;
    staying += packets * part[(states >> others[i] & 1) | (states >> moved[i] & 1) << 1];
  }
  return all > 0 ? std::optional(staying / all) : std::nullopt;
}

Allocation::Allocation(const StateGraph& graph) : rows_(graph.size()), rank_(graph.size()) {
  std::vector<std::uint8_t> lightest_first(graph.size());
  std::iota(lightest_first.begin(), lightest_first.end(), std::uint8_t{0});
  std::ranges::stable_sort(lightest_first, {}, [&](std::uint8_t state) { return graph[state].cost_ns; });
  for (std::size_t i = 0; i < graph.size(); ++i) rank_[lightest_first[i]] = static_cast<std::uint8_t>(i);
  apply(graph, {});
}

/// Adds a share to a state; there must be room for it.
void Allocation::add(Row& row, std::uint8_t state, double share) const noexcept {
  std::size_t at = 0;
  while (at < row.count && rank_[row.states[at]] < rank_[state]) ++at;
  if (at == row.count || row.states[at] != state) {
    for (std::size_t i = row.count++; i > at; --i) row.states[i] = row.states[i - 1], row.shares[i] = row.shares[i - 1];
    row.states[at] = state, row.shares[at] = 0;
  }
  row.shares[at] += share;
}

/// Divides the hashes among the states. A state without a share gets no range; the last range ends at the last hash,
/// whatever the sum of the shares.
void Allocation::divide_hashes(Row& row) noexcept {
  std::size_t ranges = 0;
  double before = 0, begin = 0;
  for (std::size_t i = 0; i < row.count; ++i) {
    before += row.shares[i];
    const double end = std::min(std::ceil(before * 0x1p32), 0x1p32);
    if (end <= begin) continue;
    row.by_hash[ranges] = row.states[i];
    row.last[ranges++] = static_cast<std::uint32_t>(end - 1);
    begin = end;
  }
  for (std::size_t i = ranges - 1; i < kMostStates; ++i)
    row.last[i] = kLastHash, row.by_hash[i] = row.by_hash[ranges - 1];
}

void Allocation::apply(const StateGraph& graph, Shift shift) noexcept {
  const auto less = graph.after(shift.others_steps()), more = graph.after(shift.steps);
  const double share = shift.share > 0 ? std::min(shift.share, 1.0) : 0;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    Row row;
    if (share < 1) add(row, less[i], 1 - share);
    if (share > 0) add(row, more[i], share);
    divide_hashes(row);
    rows_[i] = row;
  }
}

double Allocation::move(std::uint8_t base, std::uint8_t from, std::uint8_t to, double share) noexcept {
  Row& row = rows_[base];
  const auto states = std::span(row.states).first(row.count);
  const auto at = static_cast<std::size_t>(std::ranges::find(states, from) - states.begin());
  if (at == row.count || from == to || !(share > 0)) return 0;
  const double moved = std::min(share, row.shares[at]);
  if (moved == row.shares[at]) {
    std::shift_left(row.states.begin() + at, row.states.begin() + row.count, 1);
    std::shift_left(row.shares.begin() + at, row.shares.begin() + row.count, 1);
    row.states[--row.count] = 0, row.shares[row.count] = 0;
  } else if (row.count == kMostStates && std::ranges::find(states, to) == states.end()) {
    return 0;
  } else {
    row.shares[at] -= moved;
  }
  add(row, to, moved);
  divide_hashes(row);
  return moved;
}

void Allocation::gather(std::uint8_t base, std::uint8_t to, double part) noexcept {
  const Row before = rows_[base];
  if (!(part > 0) || (part < 1 && before.count == kMostStates && share(base, to) == 0)) return;
  part = std::min(part, 1.0);
  Row row;
  double gathered = 0;
  for (std::size_t i = 0; i < before.count; ++i) {
    if (before.states[i] == to) continue;
    if (part < 1) add(row, before.states[i], (1 - part) * before.shares[i]);
    gathered += part * before.shares[i];
  }
  add(row, to, share(base, to) + gathered);
  divide_hashes(row);
  rows_[base] = row;
}

double Allocation::share(std::uint8_t base, std::uint8_t state) const noexcept {
  const Row& row = rows_[base];
  for (std::size_t i = 0; i < row.count; ++i)
    if (row.states[i] == state) return row.shares[i];
  return 0;
}

double Allocation::cost_ns(const StateGraph& graph, std::uint8_t base) const noexcept {
  const Row& row = rows_[base];
  double cost_ns = 0;
  for (std::size_t i = 0; i < row.count; ++i) cost_ns += row.shares[i] * graph.costs_ns()[row.states[i]];
  return cost_ns;
}

double Allocation::mean_cost_ns(const StateGraph& graph, std::span<const double> base_packets) const noexcept {
  double sum_ns = 0, all = 0;
  for (std::size_t base = 0; base < std::min(size(), base_packets.size()); ++base) {
    sum_ns += base_packets[base] * cost_ns(graph, static_cast<std::uint8_t>(base));
    all += base_packets[base];
  }
  return all > 0 ? sum_ns / all : 0;
}

}  // namespace parshall::lab
